import { useEffect, useState } from 'preact/hooks'
import { summaryOfEvents } from '../../control-client/advance-summary.ts'
import { DAY, HOUR, MINUTE } from '../../core/time/instant.ts'
import { ask } from '../api.ts'
import { fittedAxis, linearAxis, type Span } from '../axis.ts'
import { batchAt, batchTitle, isUnfinished, stateOf, timeOf, useBatches } from '../batch-data.ts'
import { eventName } from '../clock-bar.tsx'
import { type DeliveryRow, receiverName, useDeliveries } from '../deliveries.ts'
import { EventRow, type Horizon, iconOf, named, RowsCard, Upcoming, useHorizon } from '../events.tsx'
import { countOf, durationText, shortPath, shortTime } from '../format.ts'
import { ticking } from '../live.ts'
import { useLive } from '../loaded.tsx'
import { here, linkTo, refine } from '../place.ts'
import { hasFailed, logRows } from '../requests.ts'
import { StateTag, Status } from '../status.tsx'
import { Chart } from '../timeline-chart.tsx'
import type { Mark } from '../timeline-marks.tsx'
import { Button, Card, Empty, Segments, ViewHead } from '../ui.tsx'

/** The ranges of the axis in milliseconds. */
const SPANS = { '1 m': MINUTE, '1 h': HOUR, '24 h': DAY, '30 d': 30 * DAY, Fit: 0 }
const ZOOMS = Object.fromEntries(Object.keys(SPANS).map((each) => [each, each])) as Record<Zoom, string>
type Zoom = keyof typeof SPANS

const MAX_ROWS = 200

export default function Timeline() {
  const { data: batches, ...ofBatches } = useBatches()
  const { data: horizon, ...ofFuture } = useHorizon()
  const { data: deliveries = [] } = useDeliveries()
  const notice = ofBatches.notice ?? ofFuture.notice
  const [zoom, setZoom] = useState<Zoom>('Fit')
  // 0: the range follows the time.
  const [offset, setOffset] = useState(0)
  const now = useSecond()
  if (batches === undefined || horizon === undefined || now === undefined) return notice
  const chosen = Date.parse(here.value.query.at ?? '')
  const past = chosen < now ? chosen : undefined
  const rows = batches.slice(0, MAX_ROWS)
  const deadlines = rows.filter(isUnfinished).map(({ expires_at }) => instantOf(expires_at))
  const times = [...rows.map((batch) => timeOf(batch, now)), ...deadlines]
  const marks = marksOf(horizon, deliveries)
  const axisIn = (width: number) =>
    zoom === 'Fit'
      ? fittedAxis(contentsOf(times, horizon, marks, now), width, now)
      : linearAxis(rangeOf(SPANS[zoom], now - offset), width)
  // What fits cannot be moved.
  const pan = (share: number) => {
    if (zoom !== 'Fit') setOffset((before) => before - share * SPANS[zoom])
  }
  return (
    <>
      <ViewHead
        title="Timeline"
        summary={`${countOf(batches.length, 'batch', 'batches')} · ${countOf(horizon.length, 'upcoming event')}`}
      >
        <Segments label="Zoom" options={ZOOMS} value={zoom} onChoose={setZoom} />
        <Button text="Follow" icon="flag" pressed={offset === 0} onClick={() => setOffset(0)} />
      </ViewHead>
      <section
        class="scroll"
        tabIndex={0}
        aria-label="Timeline and events"
        onKeyDown={(event) => {
          if (event.shiftKey && event.key === 'ArrowLeft') pan(-0.2)
          if (event.shiftKey && event.key === 'ArrowRight') pan(0.2)
        }}
      >
        {notice}
        {batches.length === 0 && horizon.length === 0 ? (
          <Empty
            icon="timeline"
            title="Nothing has happened yet"
            text="Create a batch, or let time pass. Batches, webhooks, faults and scheduled events appear here."
          />
        ) : (
          <Chart
            {...{ batches: rows, marks, axisIn, now, past }}
            onLook={(at) => refine({ at: at === undefined ? '' : new Date(Math.round(at)).toISOString() })}
            onPan={pan}
          />
        )}
        {batches.length > MAX_ROWS && (
          <p class="hint pad">
            {batches.length - MAX_ROWS} older batches are in <a href={linkTo('batches')}>Batches</a>.
          </p>
        )}
        {past === undefined ? (
          <div class="columns">
            <Upcoming most={50} />
            <LastAdvance now={now} />
          </div>
        ) : (
          <AsOf at={past} now={now} />
        )}
      </section>
    </>
  )
}

/** The virtual instant. It changes in steps of at least 200 ms, so that the page is not drawn too often. */
function useSecond(): number | undefined {
  const [now, setNow] = useState(ticking.peek())
  useEffect(
    () =>
      ticking.subscribe((next) =>
        setNow((before) =>
          before !== undefined && next !== undefined && Math.abs(next - before) < 200 ? before : next,
        ),
      ),
    [],
  )
  return now
}

const rangeOf = (span: number, now: number) => ({ from: now - 0.6 * span, to: now + 0.4 * span })

/** Everything that an axis that fits shows: the future at most as long as the past, and always the next event. */
function contentsOf(times: readonly Span[], horizon: Horizon, marks: readonly Mark[], now: number) {
  const happened = marks.filter(({ to }) => to === undefined)
  const past = [...times, ...happened.map(({ at }) => instantOf(at))]
  const from = past.reduce((least, each) => Math.min(least, each.from), now)
  const next = horizon.map(({ at }) => instantOf(at))
  return [...past, ...next.filter((each, n) => n === 0 || each.from < 2 * now - from), instantOf(now)]
}

function instantOf(instant: string | number): Span {
  const at = typeof instant === 'number' ? instant : Date.parse(instant)
  return { from: at, to: at }
}

function marksOf(horizon: Horizon, deliveries: readonly DeliveryRow[]): readonly Mark[] {
  const webhooks = deliveries.flatMap(({ id, type, attempts }) =>
    attempts.map(({ at, status }): Mark => {
      const tone = status !== null && status < 300 ? 'ok' : 'error'
      const label = `${type}, ${status ?? 'no response'}`
      return { lane: 'Webhooks', at: Date.parse(at), icon: tone, tone, label, link: linkTo('webhooks', [id]) }
    }),
  )
  const faulted = logRows.value.entries.filter(({ faults }) => faults.length > 0)
  const faults = faulted.slice(0, 500).map((row): Mark => {
    const [label, link] = [row.faults.join(', '), linkTo('requests', [row.id])]
    return { lane: 'Faults', at: Date.parse(row.at), icon: 'bolt', tone: 'warn', label, link }
  })
  const scheduled = horizon.filter(({ ref }) => !ref.startsWith('batch_predictions/'))
  const events = scheduled.slice(0, 200).map((event): Mark => {
    const [label, to] = [eventName(event), event.at]
    return { lane: 'Schedule', at: Date.parse(to), icon: 'schedule', tone: 'accent', label, to }
  })
  return [...webhooks, ...faults, ...events]
}

/** Maximum number of events in the list. */
const MAX_EVENTS_SHOWN = 200

/** The last advance, whoever has requested it. */
function LastAdvance({ now }: { now: number }) {
  const { data } = useLive(() => ask('GET /clock/advance'), ['clock'])
  const { data: batches = [] } = useBatches()
  const [whole, setWhole] = useState('')
  const title = data?.running === true ? 'Advance in progress' : 'Last advance'
  const hint = 'Advance the clock above. The events of the advance are listed here.'
  if (!data?.result) return <Card {...{ title, hint, children: null }} />
  const { events, failed, omitted = {}, ...last } = data.result
  // Loading it again makes another object of the same advance.
  const id = `${last.from} ${last.to}`
  const short = summaryOfEvents(events)
  const { listed, groups } = whole === id ? { listed: events, groups: [] } : short
  const rest = Object.values(omitted).reduce((sum, count) => sum + count, 0)
  const total = events.length + failed.length + rest
  const shown = [...failed, ...listed].slice(0, MAX_EVENTS_SHOWN)
  const left = total - shown.length - groups.reduce((sum, { count }) => sum + count, 0)
  const others = `${countOf(left, 'further event')} ${left === 1 ? 'is' : 'are'} not listed.`
  return (
    <RowsCard
      title={title}
      hint={`${durationText(Date.parse(last.to) - Date.parse(last.from))} · ${shortTime(last.from, now)} to ${shortTime(last.to, now)} · ${countOf(total, 'event')}`}
      actions={
        short.groups.length > 0 && (
          <Button text="List all" pressed={whole === id} onClick={() => setWhole(whole === id ? '' : id)} />
        )
      }
      note={total === 0 ? 'No event was due during the advance.' : left > 0 && others}
    >
      {shown.map(({ at, kind, ref, from, to, error, description }) => (
        <EventRow
          key={at + kind + ref}
          {...{ at, icon: error === undefined ? iconOf(kind) : 'error', title: error ?? description }}
          text={named(ref, batches) ?? ref}
          hint={to === undefined ? kind : `${from ?? 'new'} to ${to}`}
        />
      ))}
      {groups.map(({ from, to, text }) => {
        const hint = `up to ${shortTime(to, now)}`
        return <EventRow key={text} {...{ at: from, to, icon: 'schedule', text, hint }} />
      })}
    </RowsCard>
  )
}

/** Rows of a card at most. */
const MOST = 8

/** The batches, requests and webhooks as of an instant. Records are not rewound: only what has its instants is known. */
function AsOf({ at, now }: { at: number; now: number }) {
  const { data: all = [] } = useBatches()
  const { data: deliveries = [] } = useDeliveries()
  const isPast = (instant: string) => Date.parse(instant) <= at
  const batches = all.flatMap((batch) => batchAt(batch, at, now) ?? [])
  const requests = logRows.value.entries.filter((row) => isPast(row.at))
  const attempts = deliveries
    .flatMap((delivery) => delivery.attempts.map((attempt) => ({ ...attempt, delivery })))
    .filter((attempt) => isPast(attempt.at))
    .sort((a, b) => Date.parse(b.at) - Date.parse(a.at))
  const failed = attempts.filter(({ outcome }) => outcome !== 'delivered')
  const parts: readonly { title: string; hint: string; rows: readonly Parameters<typeof EventRow>[0][] }[] = [
    {
      title: 'Batches',
      hint: `${batches.filter(isUnfinished).length} unfinished`,
      rows: batches.map((batch) => ({
        ...{ at: batch.created_at, icon: 'batches', text: batchTitle(batch) },
        href: linkTo('batches', [batch.id]),
        hint: `${isUnfinished(batch) ? 'about ' : ''}${batch.finished} of ${batch.request_counts.total} items`,
        children: <StateTag state={stateOf(batch)} />,
      })),
    },
    {
      title: 'Requests',
      hint: `${requests.length}, ${requests.filter(hasFailed).length} failed`,
      rows: requests.slice(0, MOST).map((row) => ({
        ...{ at: row.at, icon: 'requests', text: `${row.method} ${shortPath(row.path)}` },
        href: linkTo('requests', [row.id]),
        children: <Status row={row} />,
      })),
    },
    {
      title: 'Webhooks',
      hint: `${attempts.length} sent, ${failed.length} failed`,
      rows: attempts.slice(0, MOST).map(({ at: sent, attempt, outcome, delivery }) => ({
        ...{ at: sent, icon: 'bell', text: delivery.type },
        href: linkTo('webhooks', [delivery.id]),
        hint: `attempt ${attempt} to ${receiverName(delivery.url)}`,
        children: <StateTag state={outcome === 'delivered' ? 'delivered' : 'failed'} />,
      })),
    },
  ]
  return (
    <div class="columns past">
      {parts.map(({ title, hint, rows }) => (
        <RowsCard key={title} title={title} hint={`${hint} as of ${shortTime(at, now)}`}>
          {rows.map((row, index) => (
            <EventRow key={index} {...row} />
          ))}
        </RowsCard>
      ))}
      <p class="hint">Looking at the past changes nothing. Records are shown as they are now.</p>
    </div>
  )
}
