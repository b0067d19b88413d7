import { type Axis, clustered } from './axis.ts'
import { type BatchRow, batchName, isUnfinished, stateOf, timeOf } from './batch-data.ts'
import { goToInstant } from './clock-bar.tsx'
import { dateTime, durationText, shortTime } from './format.ts'
import { Icon, type IconName } from './icon.tsx'
import { goTo, linkTo } from './place.ts'
import { stateLook } from './status.tsx'
import { Button, type Tone } from './ui.tsx'

/** Something at one instant. */
export interface Mark {
  readonly lane: 'Webhooks' | 'Faults' | 'Schedule'
  readonly at: number
  readonly icon: IconName
  readonly tone: Tone
  readonly label: string
  /** In the past: the link that a click opens. */
  readonly link?: string
  /** In the future: the instant to which a click advances. */
  readonly to?: string
}

/** The instant in the popover, and its place. */
export interface Picked {
  readonly px: number
  readonly top: number
  readonly instant: number
  readonly label?: string
}

/** Where a bar or the marks of a lane are drawn. */
interface Placed {
  readonly axis: Axis
  readonly now: number
  readonly top: number
}

/** A style of which each value is a number of px. */
export const inPx = (style: Readonly<Record<string, number>>) =>
  Object.fromEntries(Object.entries(style).map(([name, value]) => [name, `${value}px`]))

/** Px of the shortest bar, whose phases can be told apart; and of bars that are too short to compare, which have their duration. */
const [MIN_BAR, SHORT] = [16, 64]

export function Bar({ batch, axis, now, top }: Placed & { batch: BatchRow }) {
  const isOpen = isUnfinished(batch)
  const { predicted } = batch
  const { from, to } = timeOf(batch, now)
  // A short bar is wider than its time, but not beyond now when the batch has ended.
  const left = Math.min(axis.at(from), Math.max(0, axis.at(to) - (isOpen ? 0 : MIN_BAR)))
  const right = Math.max(axis.at(to), left + MIN_BAR)
  const px = (instant: number) => Math.min(right, Math.max(left, axis.at(instant))) - left
  const started = px(Date.parse(batch.in_progress_at ?? predicted.in_progress_at ?? '') || to)
  const worked = px(Date.parse(batch.finalizing_at ?? predicted.finalizing_at ?? '') || to)
  const [tone, icon] = stateLook(stateOf(batch))
  const share = batch.finished / Math.max(1, batch.request_counts.total)
  const done = isOpen ? Math.min(px(now), worked) : started + (worked - started) * share
  const about = `${batchName(batch)}, ${stateOf(batch)}, ${batch.finished} of ${batch.request_counts.total} items`
  const deadline = axis.at(Date.parse(batch.expires_at))
  const duration = right - left < SHORT && durationText(to - from)
  const hasRoom = right + 80 < axis.width
  return (
    <div class={`bar-row ${tone}`} style={inPx({ top })}>
      <a
        class="bar"
        style={inPx({ left, width: right - left })}
        href={linkTo('batches', [batch.id])}
        aria-label={about}
        title={about}
        onClick={(event) => event.stopPropagation()}
      >
        <span class="phase striped" style={inPx({ left: 0, width: started })} />
        <span class="phase solid" style={inPx({ left: started, width: Math.max(0, done - started) })} />
        <span class="phase dotted" style={inPx({ left: worked, width: px(to) - worked })} />
      </a>
      {!isOpen && (
        <span class="end row" style={inPx({ left: right + 4 })}>
          <span class="mark">
            <Icon name={icon} />
          </span>
          {hasRoom && duration}
          {batch.results_url !== null && <span class="kept" />}
        </span>
      )}
      {!isOpen && !hasRoom && duration && (
        <span class="before" style={inPx({ right: axis.width - left + 4 })}>
          {duration}
        </span>
      )}
      {isOpen && deadline < axis.width && (
        <span
          class="mark deadline"
          title={`Deadline ${dateTime(batch.expires_at)}`}
          style={inPx({ left: deadline - 8 })}
        >
          <Icon name="flag" />
        </span>
      )}
    </div>
  )
}

interface LaneProps extends Placed {
  readonly marks: readonly Mark[]
  readonly onPick: (picked: Picked) => void
}

export function Lane({ axis, now, top, marks, onPick }: LaneProps) {
  const inside = marks.filter(({ at }) => at >= axis.from && at <= axis.to)
  return (
    <>
      {clustered(inside, ({ at }) => axis.at(at)).map(({ px, items }) => {
        const failed = items.filter(({ tone }) => tone === 'error')
        // The colour of a group is that of its worst mark.
        const mark = failed[0] ?? items[0]
        const isFuture = mark.to !== undefined && mark.at > now
        const failures = failed.length > 0 ? `, ${failed.length} failed` : ''
        const label =
          items.length === 1
            ? `${mark.label}, ${dateTime(mark.at)}`
            : `${items.length} of ${mark.lane}, from ${dateTime(items[0].at)}${failures}`
        return (
          <button
            type="button"
            key={mark.lane + mark.at + mark.label}
            class={`mark-button center ${mark.tone}`}
            style={inPx({ left: px - 12, top: top + 6 })}
            aria-label={label}
            title={label}
            onClick={(event) => {
              event.stopPropagation()
              if (isFuture) onPick({ px, top: top - 24, instant: mark.at, label: mark.label })
              else if (mark.link !== undefined) goTo(mark.link)
            }}
          >
            {items.length > 1 ? <span class="many center">{items.length}</span> : <Icon name={mark.icon} />}
          </button>
        )
      })}
    </>
  )
}

function show(box: HTMLElement | null): void {
  box?.showPopover()
  box?.querySelector('button')?.focus()
}

/** Offers to advance the clock to an instant in the future. */
export function Popover({ picked, now, onClose }: { picked: Picked; now: number; onClose: () => void }) {
  const { instant, label } = picked
  const go = () => {
    onClose()
    goToInstant(new Date(instant).toISOString(), `To ${shortTime(instant, now)}`)
  }
  return (
    <div
      {...{ ref: show, class: 'popover', popover: 'auto', role: 'dialog', 'aria-label': 'Details' }}
      onToggle={(event) => event.newState === 'closed' && onClose()}
    >
      {label !== undefined && <p>{label}</p>}
      <p class="hint">
        {dateTime(instant)}, in {durationText(instant - now)}
      </p>
      <p class="row-actions">
        <Button text={`Advance to ${shortTime(instant, now)}`} kind="primary" onClick={go} />
        <Button text="Cancel" onClick={onClose} />
      </p>
    </div>
  )
}
