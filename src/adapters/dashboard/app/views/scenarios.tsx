import { ask, type Output } from '../api.ts'
import { timeOfDay } from '../format.ts'
import { Icon } from '../icon.tsx'
import { act, isLost } from '../live.ts'
import { useLive } from '../loaded.ts'
import { Menu } from '../menu.tsx'
import { Button, Card, Note, Problem, Skeleton, Tag, ViewHead } from '../ui.tsx'

type Scenario = Output<'GET /scenarios'>['data'][number]

export default function Scenarios() {
  const { data, error, reload } = useLive(() => ask('GET /scenarios'), ['scenario'])
  const broken = data?.data.filter((each) => each.error !== null) ?? []
  if (data === undefined)
    return error === undefined ? <Skeleton /> : <Problem text={error} onRetry={reload} />
  const { active } = data
  const off = isLost.value
  return (
    <>
      <ViewHead
        title="Scenarios"
        summary={`${data.data.length - broken.length} valid · ${broken.length} with an error`}
      >
        <Button
          disabled={off}
          onClick={() => void act(() => ask('POST /scenarios'), 'The scripts are loaded again.')}
        >
          Validate all
        </Button>
        {active !== null && (
          <Button
            icon="pause"
            disabled={off}
            onClick={() => void act(() => ask('POST /scenarios/stop'), `${active.name} is stopped.`)}
          >
            Stop
          </Button>
        )}
      </ViewHead>
      <section class="scroll" tabIndex={0} aria-label="Scenarios">
        {error !== undefined && <Problem text={error} onRetry={reload} />}
        {active?.last_error != null && (
          <Note tone="error">{`${active.name}: ${JSON.stringify(active.last_error)}`}</Note>
        )}
        {broken.map((scenario) => (
          <Broken key={scenario.name} scenario={scenario} />
        ))}
        <ul class="card rows scenarios">
          {data.data.map((scenario) => (
            <li key={scenario.name}>
              <code title={scenario.file}>{scenario.name}</code>
              <span class="grow">{scenario.description ?? ''}</span>
              {scenario.origin === 'built-in' && <Tag>built-in</Tag>}
              {scenario.active && (
                <Tag tone="accent" icon="progress">
                  active{active !== null && ` since ${timeOfDay(active.started_at)}`}
                </Tag>
              )}
              <StartButtons scenario={scenario} off={off} />
            </li>
          ))}
        </ul>
      </section>
    </>
  )
}

function StartButtons({ scenario, off }: { scenario: Scenario; off: boolean }) {
  const { name, generation } = scenario
  const start = (reset: boolean) =>
    void act(
      () => ask('POST /scenarios/{name}/start', { params: { name }, body: { reset } }),
      `${name} is active.`,
    )
  if (scenario.active)
    return (
      <Button
        disabled={off}
        onClick={() => void act(() => ask('POST /scenarios/stop'), `${name} is stopped.`)}
      >
        Stop
      </Button>
    )
  return (
    <>
      <Button
        disabled={off || (generation === null ? 'No version of this scenario was ever valid.' : undefined)}
        onClick={() => start(false)}
      >
        Start
      </Button>
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

function Broken({ scenario: { name, error, generation } }: { scenario: Scenario }) {
  return (
    <Card
      title={
        <span class="broken">
          <Icon name="error" /> <code>{name}</code>
        </span>
      }
      hint={generation === null ? 'not loaded' : 'not loaded; the last valid version is used'}
    >
      <pre class="code wrapped" tabIndex={0} role="group" aria-label={`Errors of ${name}`}>
        {error}
      </pre>
    </Card>
  )
}
