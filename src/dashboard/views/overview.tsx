import type { ComponentChildren } from 'preact'
import { useMemo, useRef } from 'preact/hooks'
import { groupBy } from '../../core/conduct/observed.ts'
import { percentOf } from '../../server/control/coverage/report.ts'
import { groupsOf, SeverityTag, useConduct } from '../conduct-data.tsx'
import { useCoverage } from '../coverage-data.ts'
import { RowsCard, Upcoming } from '../events.tsx'
import { countOf, shortTime } from '../format.ts'
import { ticking } from '../live.ts'
import { linkTo } from '../place.ts'
import { hasFailed, type LogRow, logRows } from '../requests.ts'
import { useRules } from '../rules.ts'
import { useSize } from '../table.tsx'
import { Card, Skeleton, Tag, ViewHead } from '../ui.tsx'

/** The kinds of responses, each with its filter of requests. The last one is at the bottom of a bar. */
const KINDS = [
  { name: '2xx', tone: 'ok', filter: 'status:2xx' },
  { name: '429', tone: 'warn', filter: 'status:429' },
  { name: '4xx', tone: 'error', filter: 'status:4xx -status:429' },
  { name: '5xx', tone: 'error', filter: 'status:5xx' },
  { name: 'cut', tone: 'neutral', filter: 'status:cut' },
] as const

function kindOf({ status, end }: LogRow) {
  if (end !== null || status === 0) return 'cut'
  if (status < 400) return '2xx'
  return status === 429 ? '429' : status < 500 ? '4xx' : '5xx'
}

/** The kinds of these responses, with their numbers. */
function countsOf(rows: readonly LogRow[]) {
  const groups = groupBy(rows, kindOf)
  return KINDS.flatMap((kind) => {
    const count = groups.get(kind.name)?.length ?? 0
    return count === 0 ? [] : [{ ...kind, count, words: `${count} × ${kind.name}` }]
  })
}

/** Rows of a card at most. */
const MOST = 5

export default function Overview() {
  const { entries, isLoaded } = logRows.value
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
          <Upcoming most={MOST} />
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
    const groups = [...groupBy(entries, ({ at }) => at.slice(0, 16))].slice(0, most).reverse()
    return [countsOf(entries), groups.map(([minute, rows]) => ({ minute, rows, counts: countsOf(rows) }))]
  }, [entries, most])
  const tallest = minutes.reduce((most, { rows }) => Math.max(most, rows.length), 1)
  return (
    <Card
      title="Requests per minute"
      actions={totals.map(({ name, tone, filter, words }) => (
        <a key={name} class="tag-link" href={linkTo('requests', [], { filter })}>
          <Tag tone={tone} icon={tone === 'neutral' ? 'unplug' : undefined}>
            {words}
          </Tag>
        </a>
      ))}
    >
      <ol class="minutes" ref={frame}>
        {minutes.map(({ minute, rows, counts }, index) => {
          const at = Date.parse(`${minute}Z`)
          // Not a number for the first one, which nothing is before.
          const before = Date.parse(`${minutes[index - 1]?.minute}Z`)
          return (
            <li key={minute} class={at - before > 60_000 ? 'apart' : ''}>
              <a
                href={linkTo('requests', [], { filter: `at:${minute}` })}
                title={counts.map(({ words }) => words).join(', ')}
              >
                {rows.length}
                <span class="hidden"> requests at {shortTime(at, now)}</span>
                {counts.map(({ name, tone, count }) => (
                  <i
                    key={name}
                    class={`${tone} ${name === '5xx' ? 'striped' : ''}`}
                    style={{ height: `${Math.max(3, (84 * count) / tallest)}px` }}
                  />
                ))}
                <span class="hint">{index % 2 === 0 && minute.slice(11)}</span>
              </a>
            </li>
          )
        })}
      </ol>
      {minutes.length === 0 && <p class="pad hint">No request has arrived yet.</p>}
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

/** The operations with failed requests, those with the most first. */
function Failing({ entries }: { entries: readonly LogRow[] }) {
  const rows = useMemo(() => {
    return [...groupBy(entries, ({ operation }) => operation ?? '')]
      .map(([name, all]) => ({ name, all, failed: all.filter(hasFailed) }))
      .filter(({ failed }) => failed.length > 0)
      .sort((a, b) => b.failed.length - a.failed.length)
  }, [entries])
  const statusesOf = (failed: readonly LogRow[]) =>
    [...groupBy(failed, ({ end, status }) => end ?? status)]
      .map(([status, { length }]) => `${length} × ${status}`)
      .join(', ')
  return (
    <RowsCard title="Operations that fail" note={rows.length === 0 && 'No request has failed.'}>
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
    </RowsCard>
  )
}

/** The findings about the clients by severity, and the most severe ones by verdict and operation. */
function Conduct() {
  const { data, notice } = useConduct()
  const groups = groupsOf(data?.data ?? [])
  const bySeverity = groupBy(data?.data ?? [], ({ severity }) => severity)
  return (
    <RowsCard
      title="Conduct"
      actions={[...bySeverity].map(([severity, { length }]) => (
        <a key={severity} class="tag-link" href={linkTo('conduct', [], { filter: severity })}>
          <SeverityTag severity={severity} text={countOf(length, severity)} />
        </a>
      ))}
      notice={notice}
      note={data?.data.length === 0 && 'No finding about the clients.'}
    >
      {groups.slice(0, MOST).map(({ severity, code, operation, worst, filter }) => (
        <Line key={filter} name={code} href={linkTo('conduct', [], { filter })} hint={operation}>
          <SeverityTag severity={severity} text={worst} />
        </Line>
      ))}
    </RowsCard>
  )
}

/** Armed fault rules that have not fired: a test that relies on one proves nothing. */
function NeverFired() {
  const { data, notice } = useRules()
  const armed = data?.filter(({ status }) => status === 'armed') ?? []
  const rules = armed.filter(({ fired }) => fired === 0)
  const none = armed.length === 0 ? 'No rule is armed.' : 'Every armed rule has fired.'
  return (
    <RowsCard
      title="Armed faults that never fired"
      hint={armed.length > 0 && `${rules.length} of ${armed.length} armed`}
      notice={notice}
      note={rules.length === 0 && none}
    >
      {rules.slice(0, MOST).map(({ id, matched }) => (
        <Line key={id} name={id} href={linkTo('faults', [id])}>
          <Tag tone="warn">
            {matched === 0 ? 'no request matched' : `0 of ${countOf(matched, 'request')}`}
          </Tag>
        </Line>
      ))}
    </RowsCard>
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
