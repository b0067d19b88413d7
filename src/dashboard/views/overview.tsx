import type { ComponentChildren } from 'preact'
import { useMemo, useRef } from 'preact/hooks'
import { SEVERITIES } from '../../core/conduct/finding.ts'
import { percentOf } from '../../server/control/coverage/report.ts'
import { useBatches } from '../batch-data.ts'
import { groupsOf, SeverityTag, useConduct } from '../conduct-data.tsx'
import { useCoverage } from '../coverage-data.ts'
import { Upcoming, useHorizon } from '../events.tsx'
import { countOf, dayText, numberText } from '../format.ts'
import { ticking } from '../live.ts'
import { linkTo } from '../place.ts'
import { hasFailed, type LogRow, logRows } from '../requests.ts'
import { useRules } from '../rules.ts'
import { useSize } from '../table.tsx'
import { Card, Skeleton, Tag, type Tone, ViewHead } from '../ui.tsx'

/** The kinds of responses, the worst at the bottom of a bar. Each is a filter of requests. */
const KINDS: readonly (readonly [name: string, tone: Tone, filter: string, is: (row: LogRow) => boolean])[] =
  [
    ['cut', 'neutral', 'status:cut', ({ status, end }) => end !== null || status === 0],
    ['5xx', 'error', 'status:5xx', ({ status }) => status >= 500],
    ['4xx', 'error', 'status:4xx -status:429', ({ status }) => status >= 400 && status !== 429],
    ['429', 'warn', 'status:429', ({ status }) => status === 429],
    ['2xx', 'ok', 'status:2xx', () => true],
  ]

/** The index of the kind of a response. */
const kindOf = (row: LogRow) => KINDS.findIndex(([, , , is]) => is(row))

/** Rows of a card at most. */
const MOST = 5

export default function Overview() {
  const { entries, isLoaded } = logRows.value
  const failed = useMemo(() => entries.filter(hasFailed), [entries])
  if (!isLoaded) return <Skeleton />
  return (
    <>
      <ViewHead
        title="Overview"
        summary={`${countOf(entries.length, 'request')}, ${numberText(failed.length)} failed`}
      />
      <section class="scroll" tabIndex={0} aria-label="Overview">
        <div class="overview">
          <Minutes entries={entries} />
          <Coverage />
          <Failing entries={entries} />
          <Conduct />
          <Next />
          <NeverFired />
        </div>
      </section>
    </>
  )
}

/** Px of a bar with its gap: a target for a pointer. */
const BAR = 32

/** The requests of the newest minutes that have any, by the kind of their response. */
function Minutes({ entries }: { entries: readonly LogRow[] }) {
  const frame = useRef<HTMLOListElement>(null)
  const { width } = useSize(frame, { width: 600, height: 0 })
  const most = Math.max(1, Math.floor(width / BAR))
  const now = ticking.peek() ?? 0
  const { minutes, totals } = useMemo(() => {
    const found = new Map<string, number[]>()
    const totals = KINDS.map(() => 0)
    for (const row of entries) {
      const [minute, kind] = [row.at.slice(0, 16), kindOf(row)]
      if (!found.has(minute) && found.size < most)
        found.set(
          minute,
          KINDS.map(() => 0),
        )
      for (const counts of [totals, found.get(minute) ?? []]) counts[kind] = (counts[kind] ?? 0) + 1
    }
    return { minutes: [...found].reverse(), totals }
  }, [entries, most])
  const sum = (counts: readonly number[]) => counts.reduce((all, each) => all + each, 0)
  const tallest = minutes.reduce((most, [, counts]) => Math.max(most, sum(counts)), 1)
  return (
    <Card
      title="Requests per minute"
      hint={minutes.length === most ? `the newest ${most} minutes with requests` : ''}
      actions={
        <span class="row wraps">
          {KINDS.map(
            ([name, tone, filter], kind) =>
              (totals[kind] ?? 0) > 0 && (
                <TagLink
                  key={name}
                  href={linkTo('requests', [], { filter })}
                  tone={tone}
                  text={`${numberText(totals[kind] ?? 0)} × ${name}`}
                />
              ),
          ).reverse()}
        </span>
      }
    >
      <ol class="minutes" ref={frame}>
        {minutes.map(([minute, counts], index) => {
          const before = minutes[index - 1]?.[0]
          const isApart = before !== undefined && Date.parse(`${minute}Z`) - Date.parse(`${before}Z`) > 60_000
          const words = KINDS.flatMap(([name], kind) =>
            counts[kind] ? [`${counts[kind]} ${name}`] : [],
          ).join(', ')
          const day = dayText(`${minute}Z`, now)
          // Every second bar has its time, and its day where it is not that of the time before.
          const earlier = minutes[index - 2]?.[0]
          const isNewDay = day !== dayText(earlier === undefined ? now : `${earlier}Z`, now)
          return (
            <li key={minute} class={isApart ? 'apart' : ''}>
              <a
                href={linkTo('requests', [], { filter: `at:${minute}` })}
                title={`${day} ${minute.slice(11)}: ${words}`}
              >
                <span class="hidden">{`${day} ${minute.slice(11)}: ${words}`}</span>
                <span class="stack-bar" aria-hidden="true">
                  <span>{sum(counts)}</span>
                  {counts
                    .map((count, kind) => ({ count, kind }))
                    .filter(({ count }) => count > 0)
                    .reverse()
                    .map(({ count, kind }) => (
                      <i
                        key={kind}
                        class={`${KINDS[kind]?.[1]} ${KINDS[kind]?.[0] === '5xx' ? 'striped' : ''}`}
                        style={{ height: `${Math.max(3, (84 * count) / tallest)}px` }}
                      />
                    ))}
                </span>
                {index % 2 === 0 && (
                  <time aria-hidden="true">
                    {minute.slice(11)}
                    {isNewDay && <span>{day}</span>}
                  </time>
                )}
              </a>
            </li>
          )
        })}
      </ol>
      {minutes.length === 0 && <p class="pad hint">No request has arrived yet.</p>}
    </Card>
  )
}

function TagLink({ href, tone, text }: { href: string; tone: Tone; text: string }) {
  return (
    <a class="tag-link" href={href}>
      <Tag tone={tone} icon={tone === 'neutral' ? 'unplug' : undefined}>
        {text}
      </Tag>
    </a>
  )
}

/** One line that opens a view with a filter. */
function Line(props: { href: string; name: string; children: ComponentChildren }) {
  return (
    <li>
      <a class="cut mono" href={props.href} title={props.name}>
        {props.name}
      </a>
      {props.children}
    </li>
  )
}

const Nothing = ({ children }: { children: ComponentChildren }) => <p class="pad hint">{children}</p>

/** The operations with failed requests, those with the most first. */
function Failing({ entries }: { entries: readonly LogRow[] }) {
  const rows = useMemo(() => {
    const found = new Map<string, { all: number; failed: number; statuses: Map<string, number> }>()
    for (const row of entries) {
      const name = row.operation ?? ''
      const own = found.get(name) ?? { all: 0, failed: 0, statuses: new Map() }
      found.set(name, own)
      own.all += 1
      if (!hasFailed(row)) continue
      own.failed += 1
      const status = String(row.end ?? row.status)
      own.statuses.set(status, (own.statuses.get(status) ?? 0) + 1)
    }
    return [...found].filter(([, { failed }]) => failed > 0).sort(([, a], [, b]) => b.failed - a.failed)
  }, [entries])
  return (
    <Card title="Operations that fail" hint={rows.length > 0 && countOf(rows.length, 'operation')}>
      <ul class="rows events">
        {rows.slice(0, MOST).map(([name, { all, failed, statuses }]) => (
          <Line
            key={name}
            name={name || 'no operation matched'}
            href={linkTo('requests', [], {
              filter: name === '' ? 'operation:' : `operation:${name}`,
              show: 'errors',
            })}
          >
            <span class="hint grow cut right">
              {[...statuses]
                .sort(([, a], [, b]) => b - a)
                .slice(0, 3)
                .map(([status, count]) => `${count} × ${status}`)
                .join(', ')}
            </span>
            <Tag tone="error">{`${numberText(failed)} of ${numberText(all)}`}</Tag>
          </Line>
        ))}
      </ul>
      {rows.length === 0 && <Nothing>No request has failed.</Nothing>}
    </Card>
  )
}

/** The findings about the clients by severity, and the most severe ones by verdict and operation. */
function Conduct() {
  const { data, notice } = useConduct()
  const findings = data?.data ?? []
  const groups = groupsOf(findings)
  const count = (severity: string) => findings.filter((each) => each.severity === severity).length
  return (
    <Card
      title="Conduct"
      actions={SEVERITIES.filter((each) => count(each) > 0).map((severity) => (
        <a key={severity} class="tag-link" href={linkTo('conduct', [], { filter: severity })}>
          <SeverityTag severity={severity} text={countOf(count(severity), severity)} />
        </a>
      ))}
    >
      {notice}
      <ul class="rows events">
        {groups.slice(0, MOST).map(({ severity, code, operation, worst, findings: { length } }) => (
          <Line
            key={severity + code + operation}
            name={code}
            href={linkTo('conduct', [], { filter: `${severity} ${code} ${operation}`.trim() })}
          >
            <span class="hint grow cut">{operation}</span>
            <SeverityTag severity={severity} text={worst || countOf(length, 'finding')} />
          </Line>
        ))}
      </ul>
      {data !== undefined && groups.length === 0 && <Nothing>No finding about the clients.</Nothing>}
    </Card>
  )
}

/** Armed fault rules that have not fired: a test that relies on one proves nothing. */
function NeverFired() {
  const { data, notice } = useRules()
  const armed = data?.filter(({ status }) => status === 'armed') ?? []
  const rules = armed.filter(({ fired }) => fired === 0)
  return (
    <Card
      title="Armed faults that never fired"
      hint={armed.length > 0 && `${rules.length} of ${armed.length} armed`}
    >
      {notice}
      <ul class="rows events">
        {rules.slice(0, MOST).map(({ id, matched }) => (
          <Line key={id} name={id} href={linkTo('faults', [id])}>
            <span class="grow" />
            <Tag tone="warn">
              {matched === 0 ? 'no request matched' : `0 of ${countOf(matched, 'request')}`}
            </Tag>
          </Line>
        ))}
      </ul>
      {data !== undefined && rules.length === 0 && (
        <Nothing>{armed.length === 0 ? 'No rule is armed.' : 'Every armed rule has fired.'}</Nothing>
      )}
    </Card>
  )
}

function Next() {
  const { data: horizon, notice } = useHorizon()
  const { data: batches = [] } = useBatches()
  const now = ticking.peek() ?? 0
  if (horizon === undefined) return notice
  return <Upcoming horizon={horizon} batches={batches} now={now} most={MOST} />
}

const POINTS = {
  status: 'statuses',
  error: 'errors',
  enum: 'values',
  event: 'events',
  transition: 'transitions',
  bound: 'bounds',
}

/** How much of the contract the clients have met, by kind of point. */
function Coverage() {
  const { data, notice } = useCoverage()
  if (data === undefined) return <Card title="Coverage">{notice}</Card>
  return (
    <Card title="Coverage" hint={`${data.met} of ${data.total} points, ${percentOf(data)} %`}>
      <ul class="meters">
        {Object.entries(POINTS).map(([kind, name]) => {
          const points = data.data.filter((each) => each.kind === kind)
          const met = points.filter((each) => each.met !== null).length
          const query = kind === 'status' ? {} : { which: 'gaps', filter: `${kind} ` }
          return (
            <li key={kind}>
              <a href={linkTo('coverage', [], query)}>{name}</a>
              <span
                class="gauge"
                role="meter"
                aria-label={`Met ${name}`}
                aria-valuemin={0}
                aria-valuemax={points.length}
                aria-valuenow={met}
              >
                <span style={{ width: `${(100 * met) / Math.max(1, points.length)}%` }} />
              </span>
              <span class="hint right">{`${met} of ${points.length}`}</span>
            </li>
          )
        })}
      </ul>
    </Card>
  )
}
