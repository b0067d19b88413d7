import type { ComponentChildren, ComponentProps } from 'preact'
import { ask, type Output } from './api.ts'
import { type BatchRow, batchName, useBatches } from './batch-data.ts'
import { eventName, goToInstant } from './clock-bar.tsx'
import { shortTime } from './format.ts'
import { Icon, type IconName } from './icon.tsx'
import { ticking } from './live.ts'
import { sharedLive } from './loaded.tsx'
import { Card } from './ui.tsx'

export type Horizon = Output<'GET /clock/horizon'>['data']

/** The scheduled events, in order, for every part of the page that shows them. */
export const useHorizon = sharedLive(
  async (): Promise<Horizon> => (await ask('GET /clock/horizon')).data,
  ['transition', 'event', 'delivery', 'clock', 'schedule', 'write'],
)

/** The name of the batch that an event is about. */
export const named = (ref: string, batches: readonly BatchRow[]) => {
  const batch = batches.find(({ id }) => ref.endsWith(`/${id}`))
  return batch === undefined ? undefined : batchName(batch)
}

export function iconOf(kind: string): IconName {
  if (kind.includes('webhook') || kind.includes('deliver')) return 'bell'
  if (kind.includes('expire') || kind.includes('deadline') || kind.includes('cleanup')) return 'flag'
  return kind.startsWith('batch') ? 'progress' : 'schedule'
}

/** An event at an instant, or events up to another one. */
export function EventRow(props: {
  at: string
  to?: string
  icon: IconName
  title?: string
  text: string
  /** The link of the text. Default: none. */
  href?: string
  hint?: string | undefined
  children?: ComponentChildren
}) {
  const { at, to, icon, title, text, href, hint, children } = props
  return (
    <li>
      <time dateTime={at} title={to === undefined ? at : `${at} to ${to}`}>
        {shortTime(at, ticking.peek() ?? 0)}
      </time>
      <Icon name={icon} />
      <span class="grow cut" title={title}>
        {href === undefined ? text : <a href={href}>{text}</a>} <span class="hint">{hint}</span>
      </span>
      {children}
    </li>
  )
}

interface RowsCardProps extends ComponentProps<typeof Card> {
  /** Shown above the rows. */
  readonly notice?: ComponentChildren
  /** Said below the rows, or instead of them. */
  readonly note?: string | false
}

/** A card whose children are rows. */
export function RowsCard({ notice, note, children, ...card }: RowsCardProps) {
  return (
    <Card {...card}>
      {notice}
      <ul class="rows events">{children}</ul>
      {note && <p class="pad hint">{note}</p>}
    </Card>
  )
}

/** What happens next: `most` events at most. */
export function Upcoming({ most }: { most: number }) {
  const { data: horizon = [] } = useHorizon()
  const { data: batches = [] } = useBatches()
  return (
    <RowsCard
      title="What happens next"
      hint={horizon.length > most ? `the next ${most} of ${horizon.length}` : 'go advances the clock'}
      note={horizon.length === 0 && 'Nothing is scheduled. A new batch schedules its phases.'}
    >
      {horizon.slice(0, most).map(({ at, kind, ref, description }) => {
        const text = eventName({ description, kind })
        const label = `Go to ${shortTime(at, ticking.peek() ?? 0)}, ${text}`
        return (
          <EventRow
            key={at + kind + ref}
            {...{ at, icon: iconOf(kind), title: description, text, hint: named(ref, batches) }}
          >
            <button type="button" class="link" aria-label={label} onClick={() => goToInstant(at, 'Go')}>
              Go
            </button>
          </EventRow>
        )
      })}
    </RowsCard>
  )
}
