import type { RefObject } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { type Axis, type AxisLabel, labelsOf } from './axis.ts'
import { type BatchRow, batchAt, batchTitle, isUnfinished, stateOf } from './batch-data.ts'
import { countOf, durationText, numberText, shortId, shortTime, timeOfDay } from './format.ts'
import { Icon } from './icon.tsx'
import { linkTo } from './place.ts'
import { Legend, stateLook } from './status.tsx'
import { useSize } from './table.tsx'
import { Bar, inPx, Lane, type Mark, type Picked, Popover } from './timeline-marks.tsx'
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
  const [from, to] = useRowsInSight(frame)
  const first = Math.min(from, batches.length)
  const seen = past ?? now
  const shown = batches.slice(first, to)
  const inSight = shown.map((batch): Row => [batch, past === undefined ? batch : batchAt(batch, past, now)])
  const pickInstant = (event: MouseEvent & { readonly currentTarget: HTMLElement }) => {
    const px = event.clientX - event.currentTarget.getBoundingClientRect().left
    const instant = axis.instantAt(px)
    setPicked(instant > now ? { px, top: AXIS, instant } : undefined)
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
          <Labels rows={inSight} first={first} unseen={batches.length - first - inSight.length} />
        </div>
        <div
          class="plot"
          ref={frame}
          style={inPx({ height })}
          onClick={pickInstant}
          onWheel={(event) => event.shiftKey && onPan(Math.sign(event.deltaY) * 0.1)}
        >
          <Ground axis={axis} now={now} past={past} />
          {inSight.map(
            ([, then], index) =>
              then !== undefined && (
                <Bar key={then.id} batch={then} axis={axis} now={seen} top={AXIS + (first + index) * ROW} />
              ),
          )}
          {LANES.map((lane, row) => (
            <Lane
              key={lane}
              {...{ axis, now, top: AXIS + (batches.length + row) * ROW, onPick: setPicked }}
              marks={marks.filter((mark) => mark.lane === lane && mark.at <= (past ?? Infinity))}
            />
          ))}
          <Scrubber {...{ axis, now, past, onLook }} />
          {picked && <span class="picked" style={inPx({ left: picked.px, top: picked.top })} />}
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
function useRowsInSight(plot: RefObject<HTMLElement | null>) {
  const [range, setRange] = useState<readonly [first: number, last: number]>([0, 2 * OVERSCAN])
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
  return range
}

/** A batch, and how it was at the instant that the user looks at; undefined before it was created. */
type Row = readonly [BatchRow, then: BatchRow | undefined]

/** @param unseen the number of rows below those in sight */
function Labels({ rows, first, unseen }: { rows: readonly Row[]; first: number; unseen: number }) {
  return (
    <ul style={inPx({ paddingTop: first * ROW })}>
      {rows.map(([batch, then]) => {
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
        <li key={lane} class="row dim" style={inPx(index === 0 ? { marginTop: unseen * ROW } : {})}>
          {lane}
        </li>
      ))}
    </ul>
  )
}

/** The axis, the future, the folds, and now. */
function Ground({ axis, now, past }: { axis: Axis; now: number; past: number | undefined }) {
  const labels = labelsOf(axis, now)
  const seen = past === undefined ? undefined : axis.at(past)
  const isFree = ({ left, right }: AxisLabel) => seen === undefined || right < seen - 38 || left > seen + 38
  const folds = axis.stretches.filter(({ isFolded }) => isFolded)
  return (
    <>
      <div class="future" style={inPx({ left: axis.at(past ?? now) })} />
      {labels.map(({ at, px }) => (
        <span key={at} class="tick" style={inPx({ left: px })} />
      ))}
      {labels.filter(isFree).map(({ at, left, right, time, day }) => (
        <span key={at} class="tick-label" style={inPx({ left, width: right - left })}>
          {day !== undefined && <span>{day}</span>}
          {time}
        </span>
      ))}
      {folds.map(({ left, right, from, to }) => (
        <span key={left} class="fold center" style={inPx({ left, width: right - left })}>
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
    <div class={isPast ? 'now-line then' : 'now-line'} style={inPx({ left: px })}>
      <span style={inPx({ marginLeft: inside })}>{timeOfDay(at)}</span>
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
      style={inPx({ left: first - 12, width: last - first + 24 })}
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
