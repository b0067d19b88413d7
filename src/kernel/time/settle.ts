import { Refusal, refuse } from '../errors.ts'
import { idOf } from '../operation.ts'
import { ScriptFault } from '../scenario/script-fault.ts'
import { type Commit, type Row, transitionOf } from '../state/commit.ts'
import { PARKED } from '../state/state.ts'
import type { World } from '../worlds/world.ts'
import { formatInstant } from './instant.ts'
import type { Receipt, ReceiptEvent } from './receipt.ts'
import { byDue, eventId, SCHEDULE, type ScheduledEvent } from './scheduler.ts'

/**
 * Runs every event that is due up to an instant, in the order (due, seq), each at its own instant: the clock moves there
 * before the handler runs, so that no handler ever sees the target. Then moves the clock to the target.
 * @param pause asked after each event: true leaves the clock where it is, and what is left stays due
 */
export function settle(world: World, target: number, pause: (ran: number) => boolean = never): Receipt {
  const from = world.clock.now
  const events: ReceiptEvent[] = []
  const parked: ReceiptEvent[] = []
  const receipt = (): Receipt => {
    return { from: formatInstant(from), to: formatInstant(world.clock.now), events, parked }
  }
  for (;;) {
    const event = world.scheduler.peek()
    if (event === undefined || Date.parse(event.due_at) > target) break
    const ran = events.length + parked.length
    if (ran >= world.options.mostEvents) endless(events, world)
    world.clock.moveTo(Date.parse(event.due_at))
    const happened = run(world, event)
    if (happened.error === undefined) events.push(happened)
    else parked.push(happened)
    world.happened(happened)
    if (pause(ran + 1)) return receipt()
  }
  world.clock.moveTo(target)
  return receipt()
}

const never = (): boolean => false

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

// One event at the clock's instant. When its handler fails, only that is undone.
function run(world: World, event: ScheduledEvent): ReceiptEvent {
  try {
    return happened(event, world.clock.now, handle(world, event))
  } catch (error) {
    // The disk, not the handler, is at fault: the event stays where it is and runs when writing works again.
    if (error instanceof Refusal && error.code === 'storage_unavailable') throw error
    if (world.retired !== undefined) throw world.retired
    return park(world, event, error)
  }
}

function handle(world: World, event: ScheduledEvent): Commit | undefined {
  const scope = world.scope(event.id)
  // Taken out first, so that the handler may schedule the same kind about the same record again.
  scope.tx.delete(SCHEDULE, event.id)
  const handle = world.handlerOf(event.kind)
  if (handle === undefined) throw new Error(`nothing handles events of the kind "${event.kind}"`)
  handle(scope, event)
  return world.commit(scope)
}

function happened(event: ScheduledEvent, now: number, commit: Commit | undefined): ReceiptEvent {
  const { kind, ref, says, caused_by } = event
  const id = idOf(ref)
  const change = commit?.changes.find((each) => each.id === id && ref === `${each.table}/${id}`)
  return {
    at: formatInstant(now),
    kind,
    ref,
    says,
    caused_by,
    ...(change && transitionOf(change)),
  }
}

function park(world: World, event: ScheduledEvent, error: unknown): ReceiptEvent {
  const message = error instanceof Error ? error.message : String(error)
  const at = formatInstant(world.clock.now)
  if (!(error instanceof ScriptFault)) world.options.onSurprise(error)
  world.store.transaction(at, (tx) => {
    tx.delete(SCHEDULE, event.id)
    tx.put(PARKED, { ...event, error: message } as Row)
  })
  const { kind, ref, says, caused_by } = event
  return { at, kind, ref, says, caused_by, error: message }
}

/** Refuses to go on, naming what happened most often. */
export function endless(events: readonly ReceiptEvent[], world: World): never {
  const counts = new Map<string, number>()
  for (const { kind, ref } of events) counts.set(`${kind} ${ref}`, (counts.get(`${kind} ${ref}`) ?? 0) + 1)
  const suspects = [...counts].sort((a, b) => b[1] - a[1]).slice(0, 3)
  return refuse('conflict', {
    detail: `Time did not settle after ${world.options.mostEvents} events; the clock stands at ${formatInstant(world.clock.now)}. Most frequent: ${suspects.map(([name, n]) => `${name} (${n} times)`).join(', ')}.`,
    details: { suspects: suspects.map(([name, times]) => ({ name, times })) },
    mitigation: 'Advance by less, or delete the records that keep scheduling themselves.',
  })
}
