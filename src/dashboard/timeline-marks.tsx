import { useEffect, useRef } from 'preact/hooks'
import { type Axis, clustered } from './axis.ts'
import { type BatchRow, batchName, endOf, isUnfinished, stateOf } from './batch-data.ts'
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

interface BarProps {
  readonly batch: BatchRow
  readonly axis: Axis
  readonly now: number
  readonly top: number
}

/** Px of the shortest bar, whose phases can be told apart; and of bars that are too short to compare, which have their duration. */
const [MIN_BAR, SHORT] = [16, 64]

export function Bar({ batch, axis, now, top }: BarProps) {
  const begin = Date.parse(batch.created_at)
  const end = endOf(batch)
  const { predicted } = batch
  const instantOf = (...given: (string | null)[]) =>
    given.flatMap((each) => (each === null ? [] : [Date.parse(each)]))[0]
  const last = end ?? instantOf(predicted.completed_at) ?? Math.max(now, begin)
  const worked = instantOf(batch.finalizing_at, predicted.finalizing_at) ?? last
  const started = instantOf(batch.in_progress_at, predicted.in_progress_at) ?? last
  // A short bar is wider than its time, but not beyond now when the batch has ended.
  const left = Math.min(axis.at(begin), Math.max(0, axis.at(last) - (end === undefined ? 0 : MIN_BAR)))
  const right = Math.max(axis.at(last), left + MIN_BAR)
  const px = (instant: number) => Math.min(right, Math.max(left, axis.at(instant))) - left
  const [tone, icon] = stateLook(stateOf(batch))
  const share = batch.finished / Math.max(1, batch.request_counts.total)
  const done =
    end === undefined ? Math.min(px(now), px(worked)) : px(started) + (px(worked) - px(started)) * share
  const about = `${batchName(batch)}, ${stateOf(batch)}, ${batch.finished} of ${batch.request_counts.total} items`
  const deadline = isUnfinished(batch) ? axis.at(Date.parse(batch.expires_at)) : undefined
  return (
    <div class={`bar-row ${tone}`} style={{ top: `${top}px` }}>
      <a
        class="bar"
        style={{ left: `${left}px`, width: `${right - left}px` }}
        href={linkTo('batches', [batch.id])}
        aria-label={about}
        title={about}
        onClick={(event) => event.stopPropagation()}
      >
        <span class="phase striped" style={{ left: '0', width: `${px(started)}px` }} />
        <span
          class="phase solid"
          style={{ left: `${px(started)}px`, width: `${Math.max(0, done - px(started))}px` }}
        />
        <span class="phase dotted" style={{ left: `${px(worked)}px`, width: `${px(last) - px(worked)}px` }} />
      </a>
      {end !== undefined && (
        <span class="end row" style={{ left: `${right + 4}px` }}>
          <span class="mark">
            <Icon name={icon} />
          </span>
          {right - left < SHORT && right + 80 < axis.width && durationText(end - begin)}
          {batch.results_url !== null && <span class="kept" />}
        </span>
      )}
      {end !== undefined && right - left < SHORT && right + 80 >= axis.width && (
        <span class="before" style={{ right: `${axis.width - left + 4}px` }}>
          {durationText(end - begin)}
        </span>
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

export function Lane(props: {
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
        // The colour of a group is that of its worst mark.
        const mark = items.find(({ tone }) => tone === 'error') ?? (items[0] as Mark)
        const failed = items.filter(({ tone }) => tone === 'error').length
        const isFuture = mark.to !== undefined && mark.at > now
        const label =
          items.length === 1
            ? `${mark.label}, ${dateTime(mark.at)}`
            : `${items.length} of ${mark.lane}, from ${dateTime((items[0] as Mark).at)}${failed > 0 ? `, ${failed} failed` : ''}`
        return (
          <button
            type="button"
            key={mark.lane + mark.at + mark.label}
            class={`mark-button center ${mark.tone}`}
            style={{ left: `${px - 12}px`, top: `${top + 6}px` }}
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

/** Offers to advance the clock to an instant in the future. */
export function Popover({ picked, now, onClose }: { picked: Picked; now: number; onClose: () => void }) {
  const { instant, label } = picked
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => {
    box.current?.showPopover()
    box.current?.querySelector('button')?.focus()
  }, [])
  const go = () => {
    onClose()
    goToInstant(new Date(instant).toISOString(), `To ${shortTime(instant, now)}`)
  }
  return (
    <div
      {...{ ref: box, class: 'popover', popover: 'auto', role: 'dialog', 'aria-label': 'Details' }}
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
