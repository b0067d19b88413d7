import { findingCounts } from '../../core/conduct/finding-lines.ts'
import {
  attemptsOf,
  type CallAttempt,
  type ConductGroup,
  findingId,
  groupsOf,
  SeverityTag,
  type ShownFinding,
  useConduct,
} from '../conduct-data.tsx'
import { countOf, durationText, pretty, shortTime, timeOfDay } from '../format.ts'
import { Opened } from '../list.tsx'
import { ticking } from '../live.ts'
import { goTo, here, linkTo, open } from '../place.ts'
import { filtered, NoMatch, QueryFilter } from '../query-filter.tsx'
import { Status, toneOf } from '../status.tsx'
import { Button, Card, Detail, Empty, FactList, Note, ViewHead } from '../ui.tsx'
import { useKeys } from '../view-keys.ts'

/** Calls of a group that are listed at most. */
const MOST = 20

export default function ConductView() {
  const { data: report, notice } = useConduct()
  const all = report?.data ?? []
  const groups = filtered(
    groupsOf(all),
    ({ severity, code, operation, findings }) =>
      `${severity} ${code} ${operation} ${findings.map(({ message }) => message).join(' ')}`,
  )
  const [opened] = here.value.path
  const ids = groups.flatMap(({ findings }) => findings.slice(0, MOST).map(findingId))
  const move = (by: number) => {
    const next = ids[opened === undefined ? 0 : ids.indexOf(opened) + by]
    if (next !== undefined) open([next])
  }
  useKeys({ j: () => move(1), k: () => move(-1), ArrowDown: () => move(1), ArrowUp: () => move(-1) })
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
            <GroupCard key={`${group.severity} ${group.code} ${group.operation}`} group={group} />
          ))}
          {all.length === 0 ? (
            <NoFindings />
          ) : (
            groups.length === 0 && <NoMatch count={all.length} noun="finding" />
          )}
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

function NoFindings() {
  return (
    <Empty
      icon="ok"
      title="No findings"
      text="A finding is something that the client did wrong: it waited too short, repeated a request without a key, left connections open. Arm a fault, and see how your client behaves."
    >
      <Button text="Arm a fault" onClick={() => goTo(linkTo('faults'))} />
    </Empty>
  )
}

const endOf = (attempts: readonly CallAttempt[]) =>
  attempts.reduce((end, { at, promised = 0 }) => Math.max(end, at + promised), 0)

/** The calls with one verdict about one operation, all on the same scale. */
function GroupCard({ group: { code, severity, operation, findings, worst } }: { group: ConductGroup }) {
  const calls = findings.slice(0, MOST).map((finding) => ({ finding, attempts: attemptsOf(finding) }))
  const scale = calls.reduce((most, { attempts }) => Math.max(most, endOf(attempts)), 1)
  const now = ticking.value ?? 0
  const isDrawn = calls.some(({ attempts }) => attempts.length > 1)
  return (
    <Card
      title={
        <span class="row wraps">
          <SeverityTag severity={severity} /> <code>{code}</code> <code class="dim">{operation}</code>
        </span>
      }
      actions={
        <span class="hint">
          {[countOf(findings.length, 'call'), worst && `worst: ${worst}`].filter(Boolean).join(' · ')}
        </span>
      }
    >
      <ul class="rows calls">
        {isDrawn && (
          <li class="hint scale" aria-hidden="true">
            <span />{' '}
            <span class="row">
              <span>0</span>
              <span class="push">{durationText(scale)}</span>
            </span>{' '}
            <span />
          </li>
        )}
        {calls.map(({ finding, attempts }) => {
          const [first] = attempts
          const { waited, promised } = shortestOf(attempts)
          const id = findingId(finding)
          return (
            <li
              key={id}
              class={isDrawn ? '' : 'said'}
              aria-current={here.value.path[0] === id ? 'true' : undefined}
            >
              <a href={linkTo('conduct', [id], here.value.query)} title={finding.message}>
                {first === undefined ? finding.message : shortTime(first.row.at, now)}
              </a>
              {isDrawn && <Picture attempts={attempts} scale={scale} />}
              {first !== undefined && (
                <span class={`right ${promised === undefined ? 'hint' : 'small bad-text'}`}>
                  {promised === undefined
                    ? countOf(finding.requests.length, 'request')
                    : `${durationText(waited ?? 0)} of ${durationText(promised)}`}
                </span>
              )}
            </li>
          )
        })}
      </ul>
      {findings.length > MOST && <p class="pad hint">{findings.length - MOST} more calls are not listed.</p>}
    </Card>
  )
}

const isShort = ({ waited, promised }: CallAttempt) =>
  waited !== undefined && promised !== undefined && waited < promised

/** The attempt after which the wait was shortest, compared with its promise. */
function shortestOf(attempts: readonly CallAttempt[]): Partial<CallAttempt> {
  const lack = ({ waited = 0, promised = 0 }: CallAttempt) => promised - waited
  return attempts.filter(isShort).sort((a, b) => lack(b) - lack(a))[0] ?? {}
}

/** Attempts as dots on a line, with a bracket from each refused one to the end of its promised wait. */
function Picture({ attempts, scale }: { attempts: readonly CallAttempt[]; scale: number }) {
  const share = (ms: number) => `${Math.min(100, (100 * ms) / scale)}%`
  const words = attempts.map((each) => `${each.row.status}${isShort(each) ? ', too early' : ''}`).join('; ')
  return (
    <span class="attempts" role="img" aria-label={countOf(attempts.length, 'attempt')} title={words}>
      {attempts.map((each) => (
        <span
          key={each.row.id}
          class={isShort(each) ? 'promise error' : 'promise'}
          hidden={each.promised === undefined}
          style={{ left: share(each.at), width: share(each.promised ?? 0) }}
        />
      ))}
      {attempts.map(({ row, at }) => (
        <span
          key={row.id}
          class={`dot ${toneOf(row.end === null ? row.status : 0)}`}
          style={{ left: share(at) }}
        />
      ))}
    </span>
  )
}

function FindingDetail({ finding }: { finding: ShownFinding }) {
  const { severity, code, message, requests, evidence, section, fix } = finding
  const attempts = attemptsOf(finding)
  const facts = Object.entries(evidence).map(([name, value]): [string, string] => {
    const isTime = name.endsWith('_ms') && typeof value === 'number'
    const text = isTime ? durationText(value) : typeof value === 'object' ? pretty(value) : String(value)
    return [name.replace(/_ms$/, '').replaceAll('_', ' '), text]
  })
  return (
    <Detail label={`Finding ${code}`} title={<code>{code}</code>} head={<SeverityTag severity={severity} />}>
      <p>{message}</p>
      <h3>Fix</h3>
      <p>{fix}</p>
      {attempts.length > 0 && (
        <>
          <h3>Requests</h3>
          {attempts.length > 1 && <Picture attempts={attempts} scale={Math.max(1, endOf(attempts))} />}
          <ol class="chain attempts-list" aria-label="Requests">
            {attempts.map((each, index) => (
              <li key={each.row.id}>
                <Status row={each.row} />
                <a href={linkTo('requests', [each.row.id])} title={each.row.id}>
                  {timeOfDay(each.row.at)} {each.row.method}
                </a>
                <Wait attempt={attempts[index - 1]} />
              </li>
            ))}
          </ol>
        </>
      )}
      {attempts.length < requests.length && (
        <p class="hint">{`${requests.length - attempts.length} of ${countOf(requests.length, 'request')} are no longer in the log.`}</p>
      )}
      <h3>Evidence</h3>
      <FactList facts={[...facts, ['section', section]]} />
    </Detail>
  )
}

/** The wait after an attempt, and the one that its response asked for. */
function Wait({ attempt }: { attempt: CallAttempt | undefined }) {
  if (attempt?.waited === undefined) return null
  const promised = attempt.promised === undefined ? '' : ` of ${durationText(attempt.promised)}`
  return (
    <span class={`push ${isShort(attempt) ? 'small bad-text' : 'hint'}`}>
      {`after ${durationText(attempt.waited)}${promised}`}
    </span>
  )
}
