import { ask, type Output } from '../api.ts'
import { Code } from '../code.tsx'
import { countOf, dateTime, timeOfDay } from '../format.ts'
import { Icon } from '../icon.tsx'
import { Panel } from '../list.tsx'
import { act, isLost } from '../live.ts'
import { useLive } from '../loaded.tsx'
import { Menu } from '../menu.tsx'
import { here, linkTo } from '../place.ts'
import { Button, Card, Detail, Note, Problem, Tag, ViewHead } from '../ui.tsx'

type Scenario = Output<'GET /scenarios'>['data'][number]
type Active = NonNullable<Output<'GET /scenarios'>['active']>

export default function Scenarios() {
  const { data, notice } = useLive(() => ask('GET /scenarios'), ['scenario'])
  const broken = data?.data.filter((each) => each.error !== null) ?? []
  if (data === undefined) return notice
  const { active } = data
  const [opened] = here.value.path
  return (
    <>
      <ViewHead
        title="Scenarios"
        summary={`${data.data.length - broken.length} valid · ${broken.length} with an error`}
      >
        <Button
          text="Validate all"
          disabled={isLost.value}
          onClick={() => void act(() => ask('POST /scenarios'), 'The scripts are loaded again.')}
        />
        {active !== null && (
          <Button text="Stop" icon="pause" disabled={isLost.value} onClick={() => stop(active.name)} />
        )}
      </ViewHead>
      <div class="split">
        <section class="list pad-all" tabIndex={0} aria-label="Scenarios">
          {notice}
          {active?.last_error != null && (
            <Note tone="error">{`${active.name}: ${JSON.stringify(active.last_error)}`}</Note>
          )}
          {broken.map(({ name, error, generation }) => (
            <Card
              key={name}
              title={
                <span class="bad-text">
                  <Icon name="error" /> <code>{name}</code>
                </span>
              }
              hint={generation === null ? 'not loaded' : 'not loaded; the last valid version is used'}
            >
              <div class="pad">
                <pre class="code wrap bad-text" tabIndex={0} role="group" aria-label={`Errors of ${name}`}>
                  {error}
                </pre>
              </div>
            </Card>
          ))}
          <ul class="card rows scenarios">
            {data.data.map((scenario) => (
              <li key={scenario.name}>
                <a
                  class="mono"
                  href={linkTo('scenarios', [scenario.name])}
                  aria-current={scenario.name === opened ? 'true' : undefined}
                  title={scenario.file}
                >
                  {scenario.name}
                </a>
                <span class="grow">{scenario.description ?? ''}</span>
                {scenario.origin === 'built-in' && <Tag>built-in</Tag>}
                {scenario.active && (
                  <Tag tone="accent" icon="progress">
                    active{active !== null && ` since ${timeOfDay(active.started_at)}`}
                  </Tag>
                )}
                <StartButtons scenario={scenario} />
              </li>
            ))}
          </ul>
          <OwnEndpoints />
        </section>
        {opened !== undefined && (
          <Panel name="scenario" width={464}>
            <ScenarioDetail key={opened} name={opened} active={active?.name === opened ? active : null} />
          </Panel>
        )}
      </div>
    </>
  )
}

const loadDetail = async (name: string) => {
  const [scenario, rules, stubs] = await Promise.all([
    ask('GET /scenarios/{name}', { params: { name } }),
    ask('GET /faults'),
    ask('GET /stubs'),
  ])
  const isOwn = ({ source }: { readonly source: string }) => source === `scenario:${name}`
  return { scenario, rules: rules.data.filter(isOwn), stubs: stubs.data.filter(isOwn) }
}

function ScenarioDetail({ name, active }: { name: string; active: Active | null }) {
  const { data, notice } = useLive(() => loadDetail(name), ['scenario', 'request'])
  const panel = { label: `Scenario ${name}`, title: <code>{name}</code> }
  if (data === undefined) return <Detail {...panel}>{notice}</Detail>
  const { scenario, rules, stubs } = data
  const hooks = active?.hooks.map((hook) => `Hook on ${hook}`) ?? []
  const lines = [...hooks, ...stubs.map(({ method, path }) => `Stub ${method} ${path}`)]
  return (
    <Detail {...panel}>
      <p class="dim">{scenario.description ?? 'The script has no description.'}</p>
      {scenario.error !== null && <Problem text={scenario.error} />}
      <h3>What is active</h3>
      {active === null ? (
        <Note>Nothing of it: the scenario is not active on this sandbox.</Note>
      ) : (
        <>
          <p>
            {`Generation ${active.generation}, since ${dateTime(active.started_at)}. ${countOf(active.pending_calls, 'call')} to come.`}
          </p>
          <ul class="links stack small dim">
            {lines.map((line) => (
              <li key={line}>{line}</li>
            ))}
            {rules.map(({ id, status, fired, matched }) => (
              <li key={id}>
                Fault rule <a href={linkTo('faults', [id])}>{id}</a> {status}, fired {fired} of {matched}
              </li>
            ))}
          </ul>
          {active.problem !== null && <Problem text={active.problem} />}
        </>
      )}
      <h3>Source</h3>
      <p class="hint">{scenario.file}</p>
      {scenario.source === null ? (
        <Note>The scenario has no file that can be read.</Note>
      ) : (
        <Code label="Source" text={scenario.source} />
      )}
    </Detail>
  )
}

const stop = (name: string) => void act(() => ask('POST /scenarios/stop'), `${name} is stopped.`)

function StartButtons({ scenario: { name, generation, active } }: { scenario: Scenario }) {
  const off = isLost.value
  const start = (reset: boolean) =>
    void act(
      () => ask('POST /scenarios/{name}/start', { params: { name }, body: { reset } }),
      `${name} is active.`,
    )
  if (active) return <Button text="Stop" disabled={off} onClick={() => stop(name)} />
  return (
    <>
      <Button
        text="Start"
        disabled={off || (generation === null ? 'No version of this scenario was ever valid.' : undefined)}
        onClick={() => start(false)}
      />
      <Menu
        label={`More ways to start ${name}`}
        disabled={off}
        items={[
          { label: 'Reset the sandbox, then start', icon: 'again', danger: true, run: () => start(true) },
        ]}
      />
    </>
  )
}

/** The endpoints of the user's own, and what is wrong with their files. Nothing without any. */
function OwnEndpoints() {
  const { data } = useLive(() => ask('GET /endpoints'), ['scenario', 'request'])
  if (data === undefined || data.data.length + data.problems.length === 0) return null
  return (
    <Card title="Endpoints of your own" hint={data.problems.length > 0 && 'the last valid files are used'}>
      {data.problems.map((problem) => (
        <Note key={problem} tone="error">
          {problem}
        </Note>
      ))}
      <ul class="rows scenarios">
        {data.data.map(({ name, method, path, summary, kind, place }) => (
          <li key={`${place} ${method} ${path}`}>
            <a class="mono" href={linkTo('requests', [], { filter: `operation:${name}` })} title={place}>
              {name}
            </a>
            <span class="grow">{summary ?? `${method} ${path}`}</span>
            <Tag>{kind}</Tag>
          </li>
        ))}
      </ul>
    </Card>
  )
}
