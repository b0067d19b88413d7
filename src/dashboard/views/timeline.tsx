import { useEffect, useState } from 'preact/hooks'
import { summaryOfEvents } from '../../client/advance-summary.ts'
import { DAY, HOUR, MINUTE } from '../../core/time/instant.ts'
import { ask, type Output } from '../api.ts'
import { AsOf } from '../as-of.tsx'
import { fittedAxis, linearAxis, type Span } from '../axis.ts'
import { type BatchRow, timesOf, useBatches } from '../batch-data.ts'
import { eventName } from '../clock-bar.tsx'
import { type DeliveryRow, useDeliveries } from '../deliveries.ts'
import { EventRow, iconOf, named, Upcoming, useHorizon } from '../events.tsx'
import { countOf, durationText, shortTime } from '../format.ts'
import { ticking } from '../live.ts'
import { useLive } from '../loaded.tsx'
import { here, linkTo, refine } from '../place.ts'
import { logRows } from '../requests.ts'
import { Chart } from '../timeline-chart.tsx'
import type { Mark } from '../timeline-marks.tsx'
import { Button, Card, Empty, Segments, ViewHead } from '../ui.tsx'

/** The ranges of the axis in milliseconds. */
const SPANS = { '1 m': MINUTE, '1 h': HOUR, '24 h': DAY, '30 d': 30 * DAY, Fit: 0 }
const ZOOMS = Object.fromEntries(Object.keys(SPANS).map((each) => [each, each])) as Record<Zoom, string>
type Zoom = keyof typeof SPANS

const MAX_ROWS = 200

interface Data {
  readonly batches: readonly BatchRow[]
  readonly horizon: NonNullable<ReturnType<typeof useHorizon>['data']>
  readonly deliveries: readonly DeliveryRow[]
}

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
  const data: Data = { batches, horizon, deliveries }
  const marks = marksOf(data)
  const axisIn = (width: number) =>
    zoom === 'Fit'
      ? fittedAxis(contentsOf(data, marks, now), width, now)
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
            {...{ batches: batches.slice(0, MAX_ROWS), marks, axisIn, now, past }}
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
            <Upcoming horizon={horizon} batches={batches} now={now} most={50} />
            <LastAdvance batches={batches} now={now} />
          </div>
        ) : (
          <AsOf batches={batches} deliveries={deliveries} at={past} now={now} />
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
function contentsOf({ batches, horizon }: Data, marks: readonly Mark[], now: number): readonly Span[] {
  const happened = marks.filter(({ to }) => to === undefined)
  const past = [
    ...batches.slice(0, MAX_ROWS).flatMap((batch) => timesOf(batch, now)),
    ...happened.map(instantOf),
  ]
  const from = past.reduce((least, each) => Math.min(least, each.from), now)
  const near = horizon
    .map(({ at }) => ({ at: Date.parse(at) }))
    .filter(({ at }, n) => n === 0 || at < 2 * now - from)
  return [...past, ...near.map(instantOf), instantOf({ at: now })]
}

const instantOf = ({ at }: { readonly at: number }): Span => ({ from: at, to: at })

function marksOf({ horizon, deliveries }: Data): readonly Mark[] {
  const webhooks = deliveries.flatMap(({ id, type, attempts }) =>
    attempts.map((attempt): Mark => {
      const isDone = attempt.status !== null && attempt.status < 300
      return {
        lane: 'Webhooks',
        at: Date.parse(attempt.at),
        icon: isDone ? 'ok' : 'error',
        tone: isDone ? 'ok' : 'error',
        label: `${type}, ${attempt.status ?? 'no response'}`,
        link: linkTo('webhooks', [id]),
      }
    }),
  )
  const faulted = logRows.value.entries.filter(({ faults }) => faults.length > 0)
  const faults = faulted.slice(0, 500).map(
    ({ at, faults: fired, id }): Mark => ({
      lane: 'Faults',
      at: Date.parse(at),
      icon: 'bolt',
      tone: 'warn',
      label: fired.join(', '),
      link: linkTo('requests', [id]),
    }),
  )
  const scheduled = horizon
    .filter(({ ref }) => !ref.startsWith('batch_predictions/'))
    .slice(0, 200)
    .map(
      (event): Mark => ({
        lane: 'Schedule',
        at: Date.parse(event.at),
        icon: 'schedule',
        tone: 'accent',
        label: eventName(event),
        to: event.at,
      }),
    )
  return [...webhooks, ...faults, ...scheduled]
}

type Advance = NonNullable<Output<'GET /clock/advance'>['result']>

/** The last advance, whoever has requested it. */
function LastAdvance({ batches, now }: Pick<Data, 'batches'> & { now: number }) {
  const { data } = useLive(() => ask('GET /clock/advance'), ['clock'])
  const title = data?.running === true ? 'Advance in progress' : 'Last advance'
  const hint = 'Advance the clock above. The events of the advance are listed here.'
  if (!data?.result) return <Card {...{ title, hint, children: null }} />
  return <Advanced title={title} last={data.result} batches={batches} now={now} />
}

/** Maximum number of events in the list. */
const MAX_EVENTS_SHOWN = 200

function Advanced(props: Pick<Data, 'batches'> & { title: string; last: Advance; now: number }) {
  const { title, last, batches, now } = props
  // Loading it again makes another object of the same advance.
  const id = `${last.from} ${last.to}`
  const [whole, setWhole] = useState('')
  const { events, failed, omitted = {} } = last
  const short = summaryOfEvents(events)
  const { listed, groups } = whole === id ? { listed: events, groups: [] } : short
  const rest = Object.values(omitted).reduce((sum, count) => sum + count, 0)
  const total = events.length + failed.length + rest
  const shown = [...failed, ...listed].slice(0, MAX_EVENTS_SHOWN)
  const left = total - shown.length - groups.reduce((sum, { count }) => sum + count, 0)
  return (
    <Card
      title={title}
      hint={`${durationText(Date.parse(last.to) - Date.parse(last.from))} · ${shortTime(last.from, now)} to ${shortTime(last.to, now)} · ${countOf(total, 'event')}`}
      actions={
        short.groups.length > 0 && (
          <Button text="List all" pressed={whole === id} onClick={() => setWhole(whole === id ? '' : id)} />
        )
      }
    >
      {total === 0 && <p class="pad hint">No event was due during the advance.</p>}
      <ul class="rows events">
        {shown.map(({ at, kind, ref, from, to, error, description }) => (
          <EventRow
            key={at + kind + ref}
            {...{ at, now, icon: error === undefined ? iconOf(kind) : 'error', title: error ?? description }}
            text={named(ref, batches) ?? ref}
            hint={to === undefined ? kind : `${from ?? 'new'} to ${to}`}
          />
        ))}
        {groups.map(({ from, to, text }) => (
          <EventRow
            key={text}
            {...{ at: from, to, now, icon: 'schedule', text, hint: `up to ${shortTime(to, now)}` }}
          />
        ))}
      </ul>
      {left > 0 && (
        <p class="pad hint">{`${countOf(left, 'further event')} ${left === 1 ? 'is' : 'are'} not listed.`}</p>
      )}
    </Card>
  )
}
