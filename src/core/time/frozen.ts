import type { Sandbox } from '../sandboxes/sandbox.ts'
import { counted } from '../words.ts'
import { formatDuration } from './instant.ts'
import { SCHEDULE, type ScheduledEvent } from './scheduler.ts'

/**
 * Explains why nothing progresses and how to fix it, for users whose client polls forever. Null while the clock runs or polls
 * advance it. Also null when no record that can be polled has pending work: no client waits for a deadline alone.
 * @param ref only about this record, `collection/id`
 */
export function frozenNote({ clock, store, service }: Sandbox, ref?: string): string | null {
  if (clock.rate !== 0 || clock.skipsOnPoll) return null
  const polled = new Set(
    [...service.operations.values()].map(({ poll }) => poll && collectionOf(poll.ref({}))),
  )
  const isAbout = (event: ScheduledEvent) =>
    ref === undefined ? polled.has(collectionOf(event.ref)) : event.ref === ref
  const events = ([...store.rows(SCHEDULE).values()] as ScheduledEvent[]).filter(isAbout)
  if (!events.some(({ urgency }) => urgency === 'work')) return null
  const next = events.reduce((least, { due_at }) => Math.min(least, Date.parse(due_at)), Number.MAX_VALUE)
  const wait = formatDuration(Math.max(0, next - clock.now))
  const are = events.length === 1 ? 'is' : 'are'
  return `The clock is frozen. ${counted(events.length, 'event')} ${are} pending, the next in ${wait}. Call clock.advance('${wait}'), set rate: 1 or use skip_on_poll.`
}

function collectionOf(ref: string): string {
  return ref.slice(0, ref.indexOf('/'))
}
