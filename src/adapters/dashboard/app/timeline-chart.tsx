import { useEffect, useRef, useState } from 'preact/hooks'
import { type Axis, axisOf, clustered, labelsOf } from './axis.ts'
import { type BatchRow, batchName, endOf, isUnfinished, stateOf } from './batch-data.ts'
import { advanceBy } from './clock-bar.tsx'
import { dateTime, durationText, shortId, shortTime, timeOfDay } from './format.ts'
import { Icon, type IconName } from './icon.tsx'
import { goTo, linkTo } from './place.ts'
import { StateTag, stateLook } from './status.tsx'
import { Button, type Tone } from './ui.tsx'

/** Something at one instant. */
export interface Mark {
  readonly lane: 'Webhooks' | 'Faults' | 'Schedule'
  readonly at: number
  readonly icon: IconName
  readonly tone: Tone
  readonly label: string
  /** What a click opens, of the past. */
  readonly link?: string
  /** Where a click advances to, of the future. */
  readonly to?: string
}

interface ChartProps {
  readonly batches: readonly BatchRow[]
  readonly marks: readonly Mark[]
  readonly range: { readonly from: number; readonly to: number }
  readonly now: number
  readonly isNarrow: boolean
  /** Moves the range by a share of its span. */
  readonly onPan: (share: number) => void
}

type Picked = { readonly px: number; readonly top: number } & (
  | { readonly batch: BatchRow }
  | { readonly instant: number; readonly label?: string }
)

const AXIS = 32
const ROW = 36
const LANES = ['Webhooks', 'Faults', 'Schedule'] as const

export function Chart({ batches, marks, range, now, isNarrow, onPan }: ChartProps) {
  const frame = useRef<HTMLDivElement>(null)
  const [width, setWidth] = useState(800)
  const [picked, setPicked] = useState<Picked | undefined>(undefined)
  useEffect(() => {
    const element = frame.current
    if (element === null) return
    const observer = new ResizeObserver(() => setWidth(element.clientWidth))
    observer.observe(element)
    return () => observer.disconnect()
  }, [])
  const points = [...batches.flatMap(pointsOf), ...marks.map(({ at }) => at), now]
  const axis = axisOf(range.from, range.to, width, points)
  const height = AXIS + (batches.length + LANES.length) * ROW
  const pickInstant = (event: MouseEvent & { readonly currentTarget: HTMLElement }) => {
    const box = event.currentTarget.getBoundingClientRect()
    const instant = axis.instantAt(event.clientX - box.left)
    setPicked(instant > now ? { px: event.clientX - box.left, top: AXIS, instant } : undefined)
  }
  return (
    <section
      class="card chart"
      aria-label="Batches over virtual time"
      onKeyDown={(event) => event.key === 'Escape' && setPicked(undefined)}
    >
      <div class="chart-body">
        <Labels batches={batches} isNarrow={isNarrow} />
        <div
          class="plot"
          ref={frame}
          style={{ height: `${height}px` }}
          onClick={pickInstant}
          onWheel={(event) => event.shiftKey && onPan(Math.sign(event.deltaY) * 0.1)}
        >
          <Ground axis={axis} now={now} />
          {batches.map((batch, row) => (
            <Bar
              key={batch.id}
              batch={batch}
              axis={axis}
              now={now}
              top={AXIS + row * ROW}
              onPick={(px) => setPicked({ batch, px, top: AXIS + (row + 1) * ROW })}
            />
          ))}
          {LANES.map((lane, row) => (
            <Lane
              key={lane}
              axis={axis}
              now={now}
              top={AXIS + (batches.length + row) * ROW}
              marks={marks.filter((mark) => mark.lane === lane)}
              onPick={setPicked}
            />
          ))}
          {picked !== undefined && (
            <Popover picked={picked} now={now} width={width} onClose={() => setPicked(undefined)} />
          )}
        </div>
      </div>
      <Legend />
    </section>
  )
}

function pointsOf(batch: BatchRow): number[] {
  const { predicted, created_at, in_progress_at, finalizing_at, expires_at } = batch
  const all = [
    created_at,
    in_progress_at,
    finalizing_at,
    predicted.in_progress_at,
    predicted.finalizing_at,
    predicted.completed_at,
    isUnfinished(batch) ? expires_at : null,
  ]
  return [...all.filter((each) => each !== null).map(Date.parse), endOf(batch) ?? Number.NaN].filter(
    (each) => !Number.isNaN(each),
  )
}

function Labels({ batches, isNarrow }: { batches: readonly BatchRow[]; isNarrow: boolean }) {
  return (
    <ul class="chart-labels">
      {batches.map((batch) => (
        <li key={batch.id}>
          <span class={`mark ${stateLook(stateOf(batch))[0]}`}>
            <Icon name={stateLook(stateOf(batch))[1]} />
          </span>
          <a href={linkTo('batches', [batch.id])} title={batch.id}>
            {batchName(batch)}
          </a>
          {!isNarrow && batchName(batch) !== shortId(batch.id) && (
            <span class="hint">{shortId(batch.id).slice(1)}</span>
          )}
        </li>
      ))}
      {LANES.map((lane) => (
        <li key={lane} class="lane">
          {lane}
        </li>
      ))}
    </ul>
  )
}

/** The axis, the future, the folds, and now. */
function Ground({ axis, now }: { axis: Axis; now: number }) {
  const nowPx = axis.at(now)
  return (
    <>
      <div class="future" style={{ left: `${nowPx}px` }} />
      {labelsOf(axis)
        .filter((instant) => Math.abs(axis.at(instant) - nowPx) > 48)
        .map((instant) => (
          <span key={instant} class="tick" style={{ left: `${axis.at(instant)}px` }}>
            {tickLabel(instant, now)}
          </span>
        ))}
      {axis.stretches
        .filter(({ isFolded }) => isFolded)
        .map(({ left, right, from, to }) => (
          <span key={left} class="fold" style={{ left: `${left}px`, width: `${right - left}px` }}>
            <span>{durationText(to - from)}</span>
          </span>
        ))}
      <div class="now-line" style={{ left: `${nowPx}px` }}>
        <span>{timeOfDay(now)}</span>
      </div>
    </>
  )
}

function tickLabel(instant: number, now: number): string {
  const text = shortTime(instant, now)
  return text.length === 8 && instant % 60_000 === 0 ? text.slice(0, 5) : text
}

interface BarProps {
  readonly batch: BatchRow
  readonly axis: Axis
  readonly now: number
  readonly top: number
  readonly onPick: (px: number) => void
}

function Bar({ batch, axis, now, top, onPick }: BarProps) {
  const begin = Date.parse(batch.created_at)
  const end = endOf(batch)
  const { predicted } = batch
  const instantOf = (...given: (string | null)[]) =>
    given.flatMap((each) => (each === null ? [] : [Date.parse(each)]))[0]
  const last = end ?? instantOf(predicted.completed_at) ?? Math.max(now, begin)
  const worked = instantOf(batch.finalizing_at, predicted.finalizing_at) ?? last
  const started = instantOf(batch.in_progress_at, predicted.in_progress_at) ?? last
  const left = axis.at(begin)
  const right = Math.max(axis.at(last), left + 4)
  const px = (instant: number) => Math.min(right, Math.max(left, axis.at(instant))) - left
  const [tone, icon] = stateLook(stateOf(batch))
  const share = batch.finished / Math.max(1, batch.request_counts.total)
  const done =
    end === undefined ? Math.min(px(now), px(worked)) : px(started) + (px(worked) - px(started)) * share
  const deadline = isUnfinished(batch) ? axis.at(Date.parse(batch.expires_at)) : undefined
  return (
    <div class={`bar-row ${tone}`} style={{ top: `${top}px` }}>
      <button
        type="button"
        class="bar"
        style={{ left: `${left}px`, width: `${right - left}px` }}
        aria-label={`${batchName(batch)}, ${stateOf(batch)}, ${batch.finished} of ${batch.request_counts.total} items`}
        onClick={(event) => {
          event.stopPropagation()
          onPick(left + (right - left) / 2)
        }}
      >
        <span class="phase striped" style={{ left: '0', width: `${px(started)}px` }} />
        <span
          class="phase solid"
          style={{ left: `${px(started)}px`, width: `${Math.max(0, done - px(started))}px` }}
        />
        <span class="phase dotted" style={{ left: `${px(worked)}px`, width: `${px(last) - px(worked)}px` }} />
      </button>
      {end !== undefined && (
        <>
          <span class="mark end" style={{ left: `${right + 4}px` }}>
            <Icon name={icon} />
          </span>
          {batch.results_url !== null && <span class="kept" style={{ left: `${right + 24}px` }} />}
        </>
      )}
      {deadline !== undefined && deadline < axis.width && (
        <span
          class="mark deadline"
          title={`Deadline ${dateTime(batch.expires_at)}`}
          style={{ left: `${deadline - 8}px` }}
        >
          <Icon name="flag" />
        </span>
      )}
    </div>
  )
}

function Lane(props: {
  axis: Axis
  now: number
  top: number
  marks: readonly Mark[]
  onPick: (picked: Picked) => void
}) {
  const { axis, now, top, onPick } = props
  const inside = props.marks.filter(({ at }) => at >= axis.from && at <= axis.to)
  return (
    <>
      {clustered(inside, ({ at }) => axis.at(at)).map(({ px, items }) => {
        const [mark] = items as [Mark]
        const isFuture = mark.to !== undefined && mark.at > now
        const label =
          items.length === 1
            ? `${mark.label}, ${dateTime(mark.at)}`
            : `${items.length} of ${mark.lane}, from ${dateTime(mark.at)}`
        return (
          <button
            type="button"
            key={mark.lane + mark.at + mark.label}
            class={`mark-button ${mark.tone}`}
            style={{ left: `${px - 12}px`, top: `${top + 6}px` }}
            aria-label={label}
            title={label}
            onClick={(event) => {
              event.stopPropagation()
              if (isFuture) onPick({ px, top: top - 24, instant: mark.at, label: mark.label })
              else if (mark.link !== undefined) goTo(mark.link)
            }}
          >
            {items.length > 1 ? <span class="many">{items.length}</span> : <Icon name={mark.icon} />}
          </button>
        )
      })}
    </>
  )
}

function Popover({
  picked,
  now,
  width,
  onClose,
}: {
  picked: Picked
  now: number
  width: number
  onClose: () => void
}) {
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => box.current?.querySelector('button')?.focus(), [picked])
  const left = Math.max(0, Math.min(width - 264, picked.px - 132))
  return (
    <div
      ref={box}
      class="popover"
      role="dialog"
      aria-label="Details"
      style={{ left: `${left}px`, top: `${picked.top}px` }}
      onClick={(event) => event.stopPropagation()}
    >
      {'batch' in picked ? (
        <BatchFacts batch={picked.batch} now={now} onClose={onClose} />
      ) : (
        <Jump instant={picked.instant} label={picked.label} now={now} onClose={onClose} />
      )}
    </div>
  )
}

function Jump({
  instant,
  label,
  now,
  onClose,
}: {
  instant: number
  label: string | undefined
  now: number
  onClose: () => void
}) {
  const go = () => {
    onClose()
    void advanceBy(`To ${shortTime(instant, now)}`, { to: new Date(instant).toISOString() })
  }
  return (
    <>
      {label !== undefined && <p>{label}</p>}
      <p class="hint">
        {dateTime(instant)}, in {durationText(instant - now)}
      </p>
      <p class="row-actions">
        <Button kind="primary" onClick={go}>
          Advance to {shortTime(instant, now)}
        </Button>
        <Button onClick={onClose}>Cancel</Button>
      </p>
    </>
  )
}

function BatchFacts({ batch, now, onClose }: { batch: BatchRow; now: number; onClose: () => void }) {
  const { total, errored } = batch.request_counts
  const done = batch.predicted.completed_at
  return (
    <>
      <p class="popover-head">
        <strong>{batchName(batch)}</strong>
        <StateTag state={stateOf(batch)} />
      </p>
      <dl class="facts">
        <div>
          <dt>Items</dt>
          <dd>
            {batch.finished} of {total}
            {errored > 0 && ` · ${errored} errored`}
          </dd>
        </div>
        {done !== null && (
          <div>
            <dt>Done at</dt>
            <dd>
              {shortTime(done, now)}, in {durationText(Math.max(0, Date.parse(done) - now))}
            </dd>
          </div>
        )}
        <div>
          <dt>Deadline</dt>
          <dd>{shortTime(batch.expires_at, now)}</dd>
        </div>
      </dl>
      <p class="row-actions">
        {isUnfinished(batch) && (
          <Button
            kind="primary"
            onClick={() => {
              onClose()
              void advanceBy(`Until ${batchName(batch)} is done`, { until: { batch: batch.id } })
            }}
          >
            Advance to done
          </Button>
        )}
        <Button onClick={() => goTo(linkTo('batches', [batch.id]))}>Open</Button>
      </p>
    </>
  )
}

function Legend() {
  return (
    <p class="legend">
      <span>
        <i class="key striped" /> Validating
      </span>
      <span>
        <i class="key solid" /> In progress, items done
      </span>
      <span>
        <i class="key dotted" /> Finalizing
      </span>
      <span>
        <i class="key kept" /> Results kept
      </span>
      <span class="warn">
        <Icon name="flag" size={12} /> Deadline
      </span>
      <span>
        <Icon name="bolt" size={12} /> Fault fired
      </span>
    </p>
  )
}
