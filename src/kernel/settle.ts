import type { Commit, Row } from './commit.ts'
import { Refusal, refuse } from './errors.ts'
import { formatInstant } from './instant.ts'
import { idOf } from './operation.ts'
import { byDue, eventId, SCHEDULE, type ScheduledEvent } from './scheduler.ts'
import { PARKED } from './state.ts'
import type { World } from './world.ts'

/** One event that ran while time passed. */
export interface ReceiptEvent {
  readonly at: string
  readonly kind: string
  readonly ref: string
  readonly says: string
  /** Status of the record before and after, where it has one that changed. */
  readonly from?: string
  readonly to?: string
}

/** An event whose handler failed. It was undone alone; time went on. */
export interface ParkedEvent extends ReceiptEvent {
  readonly error: string
}

/** Everything that happened between two instants, in order. */
export interface Receipt {
  readonly from: string
  readonly to: string
  readonly events: readonly ReceiptEvent[]
  readonly parked: readonly ParkedEvent[]
}

/** More events than this in one settlement means that something schedules itself without end. */
export const MOST_EVENTS = 1_000_000

/**
 * Runs every event that is due up to an instant, in the order (due, seq), each at its own instant: the clock moves there
 * before the handler runs, so that no handler ever sees the target. Then moves the clock to the target.
 */
export function settle(world: World, target: number, most = Number.POSITIVE_INFINITY): Receipt {
  const from = world.clock.now
  const events: ReceiptEvent[] = []
  const parked: ParkedEvent[] = []
  for (;;) {
    if (events.length >= most) break
    const event = world.scheduler.peek()
    if (event === undefined || Date.parse(event.due_at) > target) break
    if (events.length + parked.length >= MOST_EVENTS) endless(events)
    world.clock.moveTo(Date.parse(event.due_at))
    try {
      events.push(happened(event, world.clock.now, run(world, event)))
    } catch (error) {
      // The disk, not the handler, is at fault: the event stays where it is and runs when writing works again.
      if (error instanceof Refusal && error.code === 'storage_unavailable') throw error
      parked.push(park(world, event, error))
    }
  }
  if (most === Number.POSITIVE_INFINITY) world.clock.moveTo(target)
  return { from: formatInstant(from), to: formatInstant(world.clock.now), events, parked }
}

/** As {@link settle}, and the clock's new instant is durable. */
export function advanceTo(world: World, instant: number): Receipt {
  const receipt = settle(world, instant)
  world.setClock()
  return receipt
}

/** The earliest future event about a record (`collection/id`). */
export function nextEventOf(world: World, ref: string): ScheduledEvent | undefined {
  const events = [...world.service.events.keys()]
    .map((kind) => world.store.get(SCHEDULE, eventId(kind, ref)) as ScheduledEvent | undefined)
    .filter((event) => event !== undefined)
  return events.sort(byDue)[0]
}

// One event, at the clock's instant, in a transaction of its own.
function run(world: World, event: ScheduledEvent): Commit | undefined {
  const scope = world.scope()
  // Taken out first, so that the handler may schedule the same kind about the same record again.
  scope.tx.delete(SCHEDULE, event.id)
  const handler = world.service.events.get(event.kind)
  if (handler === undefined) throw new Error(`nothing handles events of the kind "${event.kind}"`)
  handler.handle(scope, event)
  return world.commit(scope)
}

function happened(event: ScheduledEvent, now: number, commit: Commit | undefined): ReceiptEvent {
  const { kind, ref, says } = event
  const id = idOf(ref)
  const change = commit?.changes.find((each) => each.id === id && ref === `${each.table}/${id}`)
  const [from, to] = [statusOf(change?.before), statusOf(change?.after)]
  return {
    at: formatInstant(now),
    kind,
    ref,
    says,
    ...(from !== undefined && to !== undefined && from !== to ? { from, to } : {}),
  }
}

function statusOf(row: Row | undefined): string | undefined {
  const status = (row as { status?: unknown } | undefined)?.status
  return typeof status === 'string' ? status : undefined
}

function park(world: World, event: ScheduledEvent, error: unknown): ParkedEvent {
  const message = error instanceof Error ? error.message : String(error)
  const at = formatInstant(world.clock.now)
  world.options.onSurprise(error)
  world.store.transaction(at, (tx) => {
    tx.delete(SCHEDULE, event.id)
    tx.put(PARKED, { ...event, error: message } as Row)
  })
  return { at, kind: event.kind, ref: event.ref, says: event.says, error: message }
}

function endless(events: readonly ReceiptEvent[]): never {
  const counts = new Map<string, number>()
  for (const { kind, ref } of events) counts.set(`${kind} ${ref}`, (counts.get(`${kind} ${ref}`) ?? 0) + 1)
  const suspects = [...counts].sort((a, b) => b[1] - a[1]).slice(0, 3)
  return refuse('conflict', {
    detail: `Time did not settle after ${MOST_EVENTS} events. Most frequent: ${suspects.map(([name, n]) => `${name} (${n} times)`).join(', ')}.`,
    mitigation: 'Advance by less, or delete the records that keep scheduling themselves.',
  })
}
