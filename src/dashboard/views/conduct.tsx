import { findingCounts } from '../../core/conduct/finding-lines.ts'
import { attemptsOf, groupsOf, SeverityTag, useConduct, waitText, worstOf } from '../conduct-data.tsx'
import { countOf, durationText, pretty, shortPath, shortTime, timeOfDay } from '../format.ts'
import { Icon } from '../icon.tsx'
import { Opened } from '../list.tsx'
import { ticking } from '../live.ts'
import { goTo, here, linkTo, open } from '../place.ts'
import { filtered, NoMatch, QueryFilter } from '../query-filter.tsx'
import { Legend, Status, toneOf } from '../status.tsx'
import { Button, Card, Detail, Empty, FactList, Note, ViewHead } from '../ui.tsx'
import { useKeys } from '../view-keys.ts'

type FindingGroup = ReturnType<typeof groupsOf>[number]
type Finding = FindingGroup['findings'][number]

/** A finding keeps its address while requests are added after it. */
const findingId = ({ code, requests, message }: Finding) => `${code} ${requests[0] ?? message}`

/** Calls of a group that are listed at most. */
const MOST = 20

export default function ConductView() {
  const { data: report, notice } = useConduct()
  const all = report?.data ?? []
  const textOf = ({ filter, findings }: FindingGroup) =>
    `${filter} ${findings.map(({ message }) => message).join(' ')}`
  const groups = filtered(groupsOf(all), textOf)
  const [opened] = here.value.path
  const ids = groups.flatMap(({ findings }) => findings.slice(0, MOST).map(findingId))
  const move = (by: number) => () => {
    const next = ids[opened === undefined ? 0 : ids.indexOf(opened) + by]
    if (next !== undefined) open([next])
  }
  useKeys({ j: move(1), k: move(-1), ArrowDown: move(1), ArrowUp: move(-1) })
  if (report === undefined) return notice
  const { judged, not_judged } = report
  return (
    <>
      <ViewHead title="Conduct" summary={`${findingCounts(all)} in ${countOf(judged.requests, 'request')}`}>
        <QueryFilter label="Filter findings" />
      </ViewHead>
      <div class="split">
        <section class="list pad-all" tabIndex={0} aria-label="Findings, the most severe first">
          {notice}
          {groups.map((group) => (
            <GroupCard key={group.filter} group={group} />
          ))}
          {groups.length > 0 && <Legend marks={MARKS} />}
          {all.length === 0 && (
            <Empty
              icon="ok"
              title="No findings"
              text="A finding is something that the client did wrong: it waited too short, repeated a request without a key, left connections open. Arm a fault, and see how your client behaves."
            >
              <Button text="Arm a fault" onClick={() => goTo(linkTo('faults'))} />
            </Empty>
          )}
          {all.length > 0 && groups.length === 0 && <NoMatch count={all.length} noun="finding" />}
          {not_judged.map((reason) => (
            <Note key={reason}>{reason}</Note>
          ))}
        </section>
        <Opened name="finding" width={464} id={opened} item={all.find((each) => findingId(each) === opened)}>
          {(finding) => <FindingDetail finding={finding} />}
        </Opened>
      </div>
    </>
  )
}

const MARKS = {
  'dot ok': 'Success',
  'dot warn': '429',
  'dot error': 'Failed attempt',
  promise: 'Promised wait',
  'promise error': 'The next attempt came before its end',
}

/** The calls with one verdict about one operation, all on the same scale. */
function GroupCard({ group }: { group: FindingGroup }) {
  const { code, severity, operation, findings, worst } = group
  const calls = findings.slice(0, MOST).map((finding) => ({ finding, attempts: attemptsOf(finding) }))
  const all = calls.flatMap(({ attempts }) => attempts)
  // Up to the last attempt, or to the end of a promised wait.
  const scale = all.reduce((end, { at, promised = 0 }) => Math.max(end, at + promised), 1)
  const title = (
    <span class="row wraps">
      <SeverityTag severity={severity} /> <code>{code}</code> <code class="dim">{operation}</code>
    </span>
  )
  const count = `${countOf(findings.length, 'call')} · worst: ${worst} · 0 to ${durationText(scale)}`
  return (
    <Card title={title} actions={<span class="hint">{scale > 1 ? count : worst}</span>}>
      <ul class="rows calls">
        {calls.map(({ finding, attempts }) => {
          const [id, bad] = [findingId(finding), worstOf(attempts)]
          const when = attempts[0] && shortTime(attempts[0].row.at, ticking.value ?? 0)
          return (
            <li key={id} aria-current={here.value.path[0] === id ? 'true' : undefined}>
              <a class="cut" href={linkTo('conduct', [id], here.value.query)} title={finding.message}>
                {when ?? 'Details'}
              </a>
              {when === undefined ? (
                <span class="cut">{finding.message}</span>
              ) : (
                <Picture {...{ attempts, scale }} />
              )}
              <span class={`right ${bad === undefined ? 'hint' : 'small bad-text'}`}>
                {bad ? waitText(bad) : when && countOf(finding.requests.length, 'request')}
              </span>
            </li>
          )
        })}
      </ul>
      {findings.length > MOST && <p class="pad hint">{findings.length - MOST} more calls are not listed.</p>}
    </Card>
  )
}

/** Attempts as dots on a line, with a bracket from each refused one to the end of its promised wait. */
function Picture({ attempts, scale }: { attempts: ReturnType<typeof attemptsOf>; scale: number }) {
  const share = (ms: number) => `${(100 * ms) / scale}%`
  return (
    <span class="attempts" role="img" aria-label={countOf(attempts.length, 'attempt')}>
      {attempts.map(({ row, at, promised = 0, lack }) => (
        <span
          key={row.id}
          class={`promise ${lack > 0 ? 'error' : ''}`}
          hidden={promised === 0}
          style={{ left: share(at), width: share(promised) }}
        />
      ))}
      {attempts.map(({ row, at }) => (
        <span
          key={row.id}
          class={`dot ${toneOf(row.end === null ? row.status : 0)}`}
          style={{ left: `calc(${share(at)} - 5px)` }}
        />
      ))}
    </span>
  )
}

function FindingDetail({ finding }: { finding: Finding }) {
  const { severity, code, message, requests, evidence, section, fix } = finding
  const attempts = attemptsOf(finding)
  const facts = Object.entries(evidence).map(([name, value]) => {
    const text = typeof value === 'object' ? pretty(value) : String(value)
    const shown = name.endsWith('_ms') ? durationText(Number(value)) : text
    return [name.replace(/_ms$/, '').replaceAll('_', ' '), shown] as const
  })
  return (
    <Detail label={`Finding ${code}`} title={<code>{code}</code>} head={<SeverityTag severity={severity} />}>
      <p>{message}</p>
      <h3>Fix</h3>
      <p>{fix}</p>
      <h3>{countOf(requests.length, 'request')}</h3>
      <ol class="chain" aria-label="Requests">
        {attempts.map(({ row }, index) => {
          const before = attempts[index - 1]
          return (
            <li key={row.id}>
              <Icon name="requests" />
              <time dateTime={row.at}>{timeOfDay(row.at)}</time>
              <a class="cut" href={linkTo('requests', [row.id])} title={row.id}>
                {row.method} {shortPath(row.path)}
              </a>
              <span class={(before?.lack ?? 0) > 0 ? 'small bad-text' : 'hint'}>
                {before && `after ${waitText(before)}`}
              </span>
              <Status row={row} />
            </li>
          )
        })}
      </ol>
      {attempts.length < requests.length && <p class="hint">The others are no longer in the log.</p>}
      <h3>Evidence</h3>
      <FactList facts={[...facts, ['section', section]]} />
    </Detail>
  )
}
