import type { ComponentChildren } from 'preact'
import { useMemo, useRef } from 'preact/hooks'
import { SEVERITIES } from '../../core/conduct/finding.ts'
import { groupBy } from '../../core/conduct/observed.ts'
import { percentOf } from '../../server/control/coverage/report.ts'
import { useBatches } from '../batch-data.ts'
import { groupsOf, SeverityTag, useConduct } from '../conduct-data.tsx'
import { useCoverage } from '../coverage-data.ts'
import { Upcoming, useHorizon } from '../events.tsx'
import { countOf, shortTime } from '../format.ts'
import { ticking } from '../live.ts'
import { linkTo } from '../place.ts'
import { hasFailed, type LogRow, logRows } from '../requests.ts'
import { useRules } from '../rules.ts'
import { useSize } from '../table.tsx'
import { Card, Skeleton, Tag, type Tone, ViewHead } from '../ui.tsx'

/** The kinds of responses, each with its filter of requests. The last one is at the bottom of a bar. */
const KINDS: readonly (readonly [name: string, tone: Tone, filter: string, is: (row: LogRow) => boolean])[] =
  [
    ['2xx', 'ok', 'status:2xx', ({ status }) => status < 400],
    ['429', 'warn', 'status:429', ({ status }) => status === 429],
    ['4xx', 'error', 'status:4xx -status:429', ({ status }) => status < 500],
    ['5xx', 'error', 'status:5xx', () => true],
    ['cut', 'neutral', 'status:cut', () => true],
  ]

/** The index of the kind of a response. */
const kindOf = (row: LogRow) =>
  row.end !== null || row.status === 0 ? KINDS.length - 1 : KINDS.findIndex(([, , , is]) => is(row))

/** Rows of a card at most. */
const MOST = 5

export default function Overview() {
  const { entries, isLoaded } = logRows.value
  const { data: horizon = [] } = useHorizon()
  const { data: batches = [] } = useBatches()
  const failed = useMemo(() => entries.filter(hasFailed).length, [entries])
  if (!isLoaded) return <Skeleton />
  return (
    <>
      <ViewHead title="Overview" summary={`${countOf(entries.length, 'request')}, ${failed} failed`} />
      <section class="scroll" tabIndex={0} aria-label="Overview">
        <div class="overview">
          <Minutes entries={entries} />
          <Coverage />
          <Failing entries={entries} />
          <Conduct />
          <Upcoming {...{ horizon, batches, most: MOST, now: ticking.peek() ?? 0 }} />
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
  const most = Math.max(1, Math.floor(useSize(frame, { width: 600, height: 0 }).width / BAR))
  const now = ticking.peek() ?? 0
  const [totals, minutes] = useMemo(() => {
    const [totals, found] = [KINDS.map(() => 0), new Map<string, number[]>()]
    for (const row of entries) {
      const [minute, kind] = [row.at.slice(0, 16), kindOf(row)]
      if (!found.has(minute) && found.size < most)
        found.set(
          minute,
          KINDS.map(() => 0),
        )
      for (const counts of [totals, found.get(minute) ?? []]) counts[kind] = (counts[kind] ?? 0) + 1
    }
    return [
      totals,
      [...found].reverse().map(([minute, counts]) => ({ minute, at: Date.parse(`${minute}Z`), counts })),
    ]
  }, [entries, most])
  const sum = (counts: readonly number[]) => counts.reduce((all, each) => all + each, 0)
  const tallest = minutes.reduce((most, { counts }) => Math.max(most, sum(counts)), 1)
  const tags = KINDS.map(([name, tone, filter], kind) => ({ name, tone, filter, count: totals[kind] ?? 0 }))
  return (
    <Card
      title="Requests per minute"
      actions={tags
        .filter(({ count }) => count > 0)
        .map(({ name, tone, filter, count }) => (
          <a key={name} class="tag-link" href={linkTo('requests', [], { filter })}>
            <Tag tone={tone} icon={tone === 'neutral' ? 'unplug' : undefined}>{`${count} × ${name}`}</Tag>
          </a>
        ))}
    >
      <ol class="minutes" ref={frame}>
        {minutes.map(({ minute, at, counts }, index) => {
          const words = KINDS.flatMap(([name], kind) => (counts[kind] ? `${counts[kind]} × ${name}` : []))
          const before = minutes[index - 1]?.at ?? at
          return (
            <li key={minute} class={at - before > 60_000 ? 'apart' : ''}>
              <a href={linkTo('requests', [], { filter: `at:${minute}` })} title={words.join(', ')}>
                {sum(counts)}
                <span class="hidden"> requests at {shortTime(at, now)}</span>
                {counts.map(
                  (count, kind) =>
                    count > 0 && (
                      <i
                        key={kind}
                        class={`${KINDS[kind]?.[1]} ${KINDS[kind]?.[0] === '5xx' ? 'striped' : ''}`}
                        style={{ height: `${Math.max(3, (84 * count) / tallest)}px` }}
                      />
                    ),
                )}
                <span class="hint">{index % 2 === 0 && minute.slice(11)}</span>
              </a>
            </li>
          )
        })}
      </ol>
      {minutes.length === 0 && <Nothing>No request has arrived yet.</Nothing>}
    </Card>
  )
}

/** One line that opens a view with a filter. */
function Line(props: { href: string; name: string; hint?: string; children: ComponentChildren }) {
  return (
    <li>
      <a class="cut mono" href={props.href} title={props.name}>
        {props.name}
      </a>
      <span class="hint grow cut">{props.hint}</span>
      {props.children}
    </li>
  )
}

const Nothing = ({ children }: { children: ComponentChildren }) => <p class="pad hint">{children}</p>

/** The operations with failed requests, those with the most first. */
function Failing({ entries }: { entries: readonly LogRow[] }) {
  const rows = useMemo(() => {
    const groups = [...groupBy(entries, ({ operation }) => operation ?? '')]
    return groups
      .map(([name, all]) => ({ name, all, failed: all.filter(hasFailed) }))
      .filter(({ failed }) => failed.length > 0)
      .sort((a, b) => b.failed.length - a.failed.length)
  }, [entries])
  const statusesOf = (failed: readonly LogRow[]) =>
    [...groupBy(failed, ({ end, status }) => end ?? status)]
      .map(([status, { length }]) => `${length} × ${status}`)
      .join(', ')
  return (
    <Card title="Operations that fail">
      <ul class="rows events">
        {rows.slice(0, MOST).map(({ name, all, failed }) => (
          <Line
            key={name}
            name={name || 'no operation matched'}
            href={linkTo('requests', [], { filter: `operation:${name}`, show: 'errors' })}
            hint={statusesOf(failed)}
          >
            <Tag tone="error">{`${failed.length} of ${all.length}`}</Tag>
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
  const groups = groupsOf(data?.data ?? [])
  const counts = SEVERITIES.map((severity) => ({
    severity,
    count: data?.data.filter((each) => each.severity === severity).length ?? 0,
  }))
  return (
    <Card
      title="Conduct"
      actions={counts
        .filter(({ count }) => count > 0)
        .map(({ severity, count }) => (
          <a key={severity} class="tag-link" href={linkTo('conduct', [], { filter: severity })}>
            <SeverityTag severity={severity} text={countOf(count, severity)} />
          </a>
        ))}
    >
      {notice}
      <ul class="rows events">
        {groups.slice(0, MOST).map(({ severity, code, operation, worst, filter }) => (
          <Line key={filter} name={code} href={linkTo('conduct', [], { filter })} hint={operation}>
            <SeverityTag severity={severity} text={worst} />
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
            <Tag tone="warn">
              {matched === 0 ? 'no request matched' : `0 of ${countOf(matched, 'request')}`}
            </Tag>
          </Line>
        ))}
      </ul>
      {rules.length === 0 && (
        <Nothing>{armed.length === 0 ? 'No rule is armed.' : 'Every armed rule has fired.'}</Nothing>
      )}
    </Card>
  )
}

/** How much of the contract the clients have met, by kind of point. */
function Coverage() {
  const { data, notice } = useCoverage()
  const kinds = [...groupBy(data?.data ?? [], ({ kind }) => kind)].map(([kind, points]) => ({
    ...{ kind, all: points.length, met: points.filter(({ met }) => met !== null).length },
  }))
  return (
    <Card title="Coverage" hint={data && `${data.met} of ${data.total} points, ${percentOf(data)} %`}>
      {notice}
      <ul class="meters">
        {kinds.map(({ kind, all, met }) => (
          <li key={kind}>
            <a href={linkTo('coverage', [], { filter: `${kind} ` })}>{kind}</a>
            <progress max={all} value={met} aria-label={`Met ${kind}`} />
            <span class="hint right">{`${met} of ${all}`}</span>
          </li>
        ))}
      </ul>
    </Card>
  )
}
