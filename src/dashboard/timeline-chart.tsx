import type { RefObject } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { type Axis, labelsOf } from './axis.ts'
import { type BatchRow, batchName, stateOf } from './batch-data.ts'
import { countOf, durationText, shortId, shortTime, timeOfDay } from './format.ts'
import { Icon } from './icon.tsx'
import { linkTo } from './place.ts'
import { stateLook } from './status.tsx'
import { useSize } from './table.tsx'
import { Bar, Lane, type Mark, type Picked, Popover } from './timeline-marks.tsx'
import { entriesOf, Tag } from './ui.tsx'

interface ChartProps {
  readonly batches: readonly BatchRow[]
  readonly marks: readonly Mark[]
  /** The axis in this many px. */
  readonly axisIn: (width: number) => Axis
  readonly now: number
  /** Moves the range by a share of its span. */
  readonly onPan: (share: number) => void
}

const AXIS = 32
const ROW = 36
/** Px of a fold that is drawn. Many narrow ones would hide the axis. */
const MIN_FOLD = 6
const LANES = ['Webhooks', 'Faults', 'Schedule'] as const

export function Chart({ batches, marks, axisIn, now, onPan }: ChartProps) {
  const frame = useRef<HTMLDivElement>(null)
  const { width } = useSize(frame, { width: 800, height: 0 })
  const [picked, setPicked] = useState<Picked | undefined>(undefined)
  const axis = axisIn(width)
  const height = AXIS + (batches.length + LANES.length) * ROW
  const [first, last] = useRowsInSight(frame, batches.length)
  const inSight = batches.slice(first, last)
  const pickInstant = (event: MouseEvent & { readonly currentTarget: HTMLElement }) => {
    const box = event.currentTarget.getBoundingClientRect()
    const instant = axis.instantAt(event.clientX - box.left)
    setPicked(instant > now ? { px: event.clientX - box.left, top: AXIS, instant } : undefined)
  }
  return (
    <section class="card chart" aria-label="Batches over virtual time">
      <div class="chart-body">
        <Labels batches={inSight} first={first} count={batches.length} />
        <div
          class="plot"
          ref={frame}
          style={{ height: `${height}px` }}
          onClick={pickInstant}
          onWheel={(event) => event.shiftKey && onPan(Math.sign(event.deltaY) * 0.1)}
        >
          <Ground axis={axis} now={now} />
          {inSight.map((batch, index) => (
            <Bar
              key={batch.id}
              batch={batch}
              axis={axis}
              now={now}
              top={AXIS + (first + index) * ROW}
              onPick={(px) => setPicked({ batch, px, top: AXIS + (first + index + 1) * ROW })}
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
            <span class="picked" style={{ left: `${picked.px}px`, top: `${picked.top}px` }} />
          )}
        </div>
        {picked !== undefined && (
          <Popover
            key={`${picked.px} ${picked.top}`}
            picked={picked}
            now={now}
            onClose={() => setPicked((current) => (current === picked ? undefined : current))}
          />
        )}
      </div>
      <Legend />
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

function Labels(props: { batches: readonly BatchRow[]; first: number; count: number }) {
  const { batches, first, count } = props
  return (
    <ul class="chart-labels" style={{ paddingTop: `${AXIS + first * ROW}px` }}>
      {batches.map((batch) => (
        <li key={batch.id} class="row">
          <span class={`mark ${stateLook(stateOf(batch))[0]}`}>
            <Icon name={stateLook(stateOf(batch))[1]} />
          </span>
          <a class="cut" href={linkTo('batches', [batch.id])} title={batch.id}>
            {batchName(batch)}
            <span class="hint cut">{aboutBatch(batch)}</span>
          </a>
        </li>
      ))}
      {LANES.map((lane, index) => (
        <li
          key={lane}
          class="row dim"
          style={index === 0 ? { marginTop: `${(count - first - batches.length) * ROW}px` } : {}}
        >
          {lane}
        </li>
      ))}
    </ul>
  )
}

const aboutBatch = ({ request_counts, model, first_file_id }: BatchRow) =>
  `${countOf(request_counts.total, 'item')} · ${shortId(first_file_id)} · ${model}`

/** The axis, the future, the folds, and now. */
function Ground({ axis, now }: { axis: Axis; now: number }) {
  const nowPx = axis.at(now)
  // At an end of the axis, the time is beside the line.
  const inside = Math.max(0, 40 - nowPx) + Math.min(0, axis.width - 40 - nowPx)
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
        .filter(({ isFolded, left, right }) => isFolded && right - left >= MIN_FOLD)
        .map(({ left, right, from, to }) => (
          <span key={left} class="fold center" style={{ left: `${left}px`, width: `${right - left}px` }}>
            {right - left >= 16 && <span>{durationText(to - from)}</span>}
          </span>
        ))}
      <div class="now-line" style={{ left: `${nowPx}px` }}>
        <span style={{ marginLeft: `${inside}px` }}>{timeOfDay(now)}</span>
      </div>
    </>
  )
}

function tickLabel(instant: number, now: number): string {
  const text = shortTime(instant, now)
  return text.length === 8 && instant % 60_000 === 0 ? text.slice(0, 5) : text
}

const FILLS = {
  striped: 'Validating',
  solid: 'In progress, items done',
  dotted: 'Finalizing',
  kept: 'Results kept',
}

function Legend() {
  return (
    <p class="row wraps strip line-above small dim">
      {entriesOf(FILLS).map(([fill, text]) => (
        <span key={fill} class="row">
          <i class={`key ${fill}`} /> {text}
        </span>
      ))}
      <Tag tone="warn" icon="flag">
        Deadline
      </Tag>
      <span class="row">
        <Icon name="bolt" size={12} /> Fault fired
      </span>
    </p>
  )
}
