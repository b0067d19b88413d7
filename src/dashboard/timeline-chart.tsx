import type { RefObject } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { type Axis, labelsOf } from './axis.ts'
import { type BatchRow, batchAt, batchTitle, isUnfinished, stateOf } from './batch-data.ts'
import { countOf, durationText, numberText, shortId, shortTime, timeOfDay } from './format.ts'
import { Icon } from './icon.tsx'
import { linkTo } from './place.ts'
import { Legend, stateLook } from './status.tsx'
import { useSize } from './table.tsx'
import { Bar, Lane, type Mark, type Picked, Popover } from './timeline-marks.tsx'
import { Tag } from './ui.tsx'

interface ChartProps {
  readonly batches: readonly BatchRow[]
  readonly marks: readonly Mark[]
  /** The axis in this many px. */
  readonly axisIn: (width: number) => Axis
  readonly now: number
  /** The past instant that the user looks at; undefined: now. */
  readonly past: number | undefined
  readonly onLook: (instant: number | undefined) => void
  /** Moves the range by a share of its span. */
  readonly onPan: (share: number) => void
}

const AXIS = 32
const ROW = 36
const LANES = ['Webhooks', 'Faults', 'Schedule'] as const

export function Chart({ batches, marks, axisIn, now, past, onLook, onPan }: ChartProps) {
  const frame = useRef<HTMLDivElement>(null)
  const { width } = useSize(frame, { width: 800, height: 0 })
  const [picked, setPicked] = useState<Picked | undefined>(undefined)
  const axis = axisIn(width)
  const height = AXIS + (batches.length + LANES.length) * ROW
  const [first, last] = useRowsInSight(frame, batches.length)
  const seen = past ?? now
  const inSight = batches.slice(first, last).map((batch) => ({
    batch,
    then: past === undefined ? batch : batchAt(batch, past, now),
  }))
  const shownMarks = past === undefined ? marks : marks.filter(({ at }) => at <= past)
  const pickInstant = (event: MouseEvent & { readonly currentTarget: HTMLElement }) => {
    const box = event.currentTarget.getBoundingClientRect()
    const instant = axis.instantAt(event.clientX - box.left)
    setPicked(instant > now ? { px: event.clientX - box.left, top: AXIS, instant } : undefined)
    if (instant <= now) onLook(instant)
  }
  return (
    <section class="card chart" aria-label="Batches over virtual time">
      <div class="chart-body">
        <div class="chart-labels">
          <p class="as-of small">
            {past !== undefined && (
              <>
                <span class="wide-only">As of</span> {shortTime(past, now)}{' '}
                <button type="button" class="link" onClick={() => onLook(undefined)}>
                  Back to now
                </button>
              </>
            )}
          </p>
          <Labels rows={inSight} first={first} count={batches.length} />
        </div>
        <div
          class="plot"
          ref={frame}
          style={{ height: `${height}px` }}
          onClick={pickInstant}
          onWheel={(event) => event.shiftKey && onPan(Math.sign(event.deltaY) * 0.1)}
        >
          <Ground axis={axis} now={now} past={past} />
          {inSight.map(
            ({ then }, index) =>
              then !== undefined && (
                <Bar key={then.id} batch={then} axis={axis} now={seen} top={AXIS + (first + index) * ROW} />
              ),
          )}
          {LANES.map((lane, row) => (
            <Lane
              key={lane}
              axis={axis}
              now={now}
              top={AXIS + (batches.length + row) * ROW}
              marks={shownMarks.filter((mark) => mark.lane === lane)}
              onPick={setPicked}
            />
          ))}
          <Scrubber {...{ axis, now, past, onLook }} />
          {picked !== undefined && (
            <span class="picked" style={{ left: `${picked.px}px`, top: `${picked.top}px` }} />
          )}
        </div>
        {picked !== undefined && (
          <Popover
            key={`${picked.px} ${picked.top}`}
            picked={picked}
            now={seen}
            onClose={() => setPicked((current) => (current === picked ? undefined : current))}
          />
        )}
      </div>
      <Legend marks={FILLS}>
        <Tag tone="warn" icon="flag">
          Deadline
        </Tag>
        <span class="row">
          <Icon name="bolt" size={12} /> Fault fired
        </span>
      </Legend>
    </section>
  )
}

/** Rows above and below the visible ones that are also drawn, so that Tab finds the next bar. */
const OVERSCAN = 8

/** The range of rows to draw in a plot: the visible ones, and some around them. */
function useRowsInSight(plot: RefObject<HTMLElement | null>, count: number): readonly [number, number] {
  const [range, setRange] = useState<readonly [number, number]>([0, 2 * OVERSCAN])
  useEffect(() => {
    const scroller = plot.current?.closest('.scroll')
    if (scroller === null || scroller === undefined) return
    const look = () => {
      const box = scroller.getBoundingClientRect()
      const above = box.top - (plot.current?.getBoundingClientRect().top ?? 0) - AXIS
      const first = Math.max(0, Math.floor(above / ROW) - OVERSCAN)
      const last = Math.ceil((above + box.height) / ROW) + OVERSCAN
      setRange((before) => (before[0] === first && before[1] === last ? before : [first, last]))
    }
    const observer = new ResizeObserver(look)
    observer.observe(scroller)
    scroller.addEventListener('scroll', look, { passive: true })
    return () => {
      observer.disconnect()
      scroller.removeEventListener('scroll', look)
    }
  }, [])
  return [Math.min(range[0], count), Math.min(range[1], count)]
}

interface Row {
  readonly batch: BatchRow
  /** As it was at the instant that the user looks at; undefined before it was created. */
  readonly then: BatchRow | undefined
}

function Labels(props: { rows: readonly Row[]; first: number; count: number }) {
  const { rows, first, count } = props
  return (
    <ul style={{ paddingTop: `${first * ROW}px` }}>
      {rows.map(({ batch, then }) => {
        const { id, model, first_file_id: file } = batch
        const [tone, icon] = stateLook(then === undefined ? 'scheduled' : stateOf(then))
        return (
          <li key={id} class={then === undefined ? 'row later' : 'row'}>
            <span class={`mark ${tone}`}>
              <Icon name={icon} />
            </span>
            <a
              class="grow"
              href={linkTo('batches', [id])}
              title={`${batchTitle(batch)}, ${id}, ${file}, ${model}`}
            >
              <span class="cut">{batchTitle(batch)}</span>
              <span class="hint cut">
                {then === undefined ? (
                  'not created yet'
                ) : (
                  <>
                    <span class="wide-only">{shortId(id)} · </span>
                    {isUnfinished(then) && `${numberText(then.finished)}/`}
                    {countOf(batch.request_counts.total, 'item')}
                  </>
                )}
              </span>
            </a>
          </li>
        )
      })}
      {LANES.map((lane, index) => (
        <li
          key={lane}
          class="row dim"
          style={index === 0 ? { marginTop: `${(count - first - rows.length) * ROW}px` } : {}}
        >
          {lane}
        </li>
      ))}
    </ul>
  )
}

/** The axis, the future, the folds, and now. */
function Ground({ axis, now, past }: { axis: Axis; now: number; past: number | undefined }) {
  const labels = labelsOf(axis, now)
  return (
    <>
      <div class="future" style={{ left: `${axis.at(past ?? now)}px` }} />
      {labels.map(({ at, px }) => (
        <span key={at} class="tick" style={{ left: `${px}px` }} />
      ))}
      {labels
        .filter(
          ({ left, right }) => past === undefined || right < axis.at(past) - 38 || left > axis.at(past) + 38,
        )
        .map(({ at, left, right, time, day }) => (
          <span key={at} class="tick-label" style={{ left: `${left}px`, width: `${right - left}px` }}>
            {day !== undefined && <span>{day}</span>}
            {time}
          </span>
        ))}
      {axis.stretches
        .filter(({ isFolded }) => isFolded)
        .map(({ left, right, from, to }) => (
          <span key={left} class="fold center" style={{ left: `${left}px`, width: `${right - left}px` }}>
            <span>{durationText(to - from)}</span>
          </span>
        ))}
      <Instant {...{ axis, at: now }} />
      {past !== undefined && <Instant {...{ axis, at: past, isPast: true }} />}
    </>
  )
}

/** A line with its time above it; at an end of the axis beside it. */
function Instant({ axis, at, isPast = false }: { axis: Axis; at: number; isPast?: boolean }) {
  const px = axis.at(at)
  const inside = Math.max(0, 40 - px) + Math.min(0, axis.width - 40 - px)
  return (
    <div class={isPast ? 'now-line then' : 'now-line'} style={{ left: `${px}px` }}>
      <span style={{ marginLeft: `${inside}px` }}>{timeOfDay(at)}</span>
    </div>
  )
}

/** The handle on the axis with which the user looks at the past. It changes nothing in the emulator. */
function Scrubber({ axis, now, past, onLook }: Pick<ChartProps, 'now' | 'past' | 'onLook'> & { axis: Axis }) {
  const [first, last] = [Math.min(axis.at(axis.first), axis.at(now)), axis.at(now)]
  return (
    <input
      type="range"
      class="scrubber"
      style={{ left: `${first - 12}px`, width: `${last - first + 24}px` }}
      aria-label="Look at the past"
      aria-valuetext={past === undefined ? 'now' : `as of ${shortTime(past, now)}`}
      title="Drag to look at the past. It changes nothing."
      {...{ min: first, max: last, step: 'any', value: axis.at(past ?? now) }}
      onInput={({ currentTarget: { valueAsNumber: px } }) =>
        onLook(px >= last ? undefined : axis.instantAt(px))
      }
    />
  )
}

const FILLS = {
  striped: 'Validating',
  solid: 'In progress, items done',
  dotted: 'Finalizing',
  kept: 'Results kept',
  gap: 'Time without events, not to scale',
}
