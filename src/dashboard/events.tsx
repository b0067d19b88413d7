import type { ComponentChildren } from 'preact'
import { ask, type Output } from './api.ts'
import { type BatchRow, batchName } from './batch-data.ts'
import { eventName, goToInstant } from './clock-bar.tsx'
import { shortTime } from './format.ts'
import { Icon, type IconName } from './icon.tsx'
import { sharedLive } from './loaded.tsx'
import { Card } from './ui.tsx'

type Horizon = Output<'GET /clock/horizon'>['data']

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
  now: number
  icon: IconName
  title?: string
  text: string
  /** The link of the text. Default: none. */
  href?: string
  hint?: string | undefined
  children?: ComponentChildren
}) {
  const { at, to, now, icon, title, text, href, hint, children } = props
  return (
    <li>
      <time dateTime={at} title={to === undefined ? at : `${at} to ${to}`}>
        {shortTime(at, now)}
      </time>
      <Icon name={icon} />
      <span class="grow cut" title={title}>
        {href === undefined ? text : <a href={href}>{text}</a>} <span class="hint">{hint}</span>
      </span>
      {children}
    </li>
  )
}

/** What happens next. */
export function Upcoming(props: {
  horizon: Horizon
  batches: readonly BatchRow[]
  now: number
  /** Events that are listed at most. */
  most: number
}) {
  const { horizon, batches, now, most } = props
  return (
    <Card
      title="What happens next"
      hint={horizon.length > most ? `the next ${most} of ${horizon.length}` : 'go advances the clock'}
    >
      <ul class="rows events">
        {horizon.slice(0, most).map(({ at, kind, ref, description }) => {
          const name = eventName({ description, kind })
          const event = {
            at,
            now,
            icon: iconOf(kind),
            title: description,
            text: name,
            hint: named(ref, batches),
          }
          const label = `Go to ${shortTime(at, now)}, ${name}`
          return (
            <EventRow key={at + kind + ref} {...event}>
              <button type="button" class="link" aria-label={label} onClick={() => goToInstant(at, 'Go')}>
                Go
              </button>
            </EventRow>
          )
        })}
      </ul>
      {horizon.length === 0 && (
        <p class="pad hint">Nothing is scheduled. A new batch schedules its phases.</p>
      )}
    </Card>
  )
}
