import * as z from 'zod'
import { Ledger } from '../../src/kernel/assumptions.ts'
import { kernelAssumptions } from '../../src/kernel/open-items.ts'
import { type EventHandler, type Milestone, type Resource, service } from '../../src/kernel/operation.ts'
import type { Row } from '../../src/kernel/state/commit.ts'
import { buildWorld } from '../../src/kernel/state/starting-world.ts'
import { Sandbox } from '../../src/kernel/worlds/sandbox.ts'
import { worldDefaults } from '../../src/kernel/worlds/world.ts'

/** A world with nothing but events in it: what passing time does, without a service around it. */
export const START = Date.parse('2026-03-01T12:00:00.000Z')

const ticks: EventHandler = {
  kind: 'tick',
  says: 'Writes down the instant at which it ran.',
  handle: ({ tx, now, newId }, { ref }) => tx.put('ticks', { id: newId(), ref, now } as Row),
}
const chain: EventHandler = {
  kind: 'chain',
  says: 'Schedules itself one second later.',
  handle: ({ schedule, now }, { ref }) => schedule(event('chain', ref, now + 1_000)),
}
const stuck: EventHandler = {
  kind: 'stuck',
  says: 'Schedules itself for the same instant, again and again.',
  handle: ({ schedule, now }, { ref }) => schedule(event('stuck', ref, now)),
}
const broken: EventHandler = {
  kind: 'broken',
  says: 'Fails after having written.',
  handle: ({ tx }) => {
    tx.put('ticks', { id: 'never' })
    throw new Error('the handler failed')
  },
}

/** Time passes until the tick about a reference has been written. */
export const ticked: Milestone<{ readonly tick: string }> = {
  name: 'tick',
  schema: () => z.strictObject({ tick: z.string() }),
  ref: ({ tick }) => tick,
  reachedAt: ({ tx, now }, { tick }) => {
    const isThere = [...tx.rows('ticks')].some((row) => 'ref' in row && row.ref === tick)
    return isThere ? now : undefined
  },
}

/** An event of one of the kinds, about any reference. */
export function event(kind: string, ref: string, due: number) {
  return { kind, ref, due, urgency: 'work', says: `${kind} of ${ref}` } as const
}

export async function clockwork(
  options: { rate?: number; host?: () => number; surprises?: unknown[]; mostEvents?: number } = {},
): Promise<Sandbox> {
  const room: Resource = {
    name: 'room',
    operations: [],
    collections: [],
    events: [ticks, chain, stuck, broken],
    milestones: [ticked],
  }
  const ledger = new Ledger([kernelAssumptions])
  const host = options.host ?? (() => START)
  const start = {
    seed: 1,
    now: START,
    rate: options.rate ?? 0,
    skip_on_poll: false,
    settings: {},
    strict: false,
    host,
  }
  const built = await buildWorld({ collections: {}, generate: {} }, start, service([room]), ledger)
  if (!('world' in built)) throw new Error('the world is empty and cannot be wrong')
  const onSurprise = (error: unknown) => options.surprises?.push(error)
  const { mostEvents = worldDefaults.mostEvents } = options
  const given = { service: service([room]), ledger, host, mostEvents, onSurprise }
  return new Sandbox({ ...worldDefaults, ...given }, built.world)
}

/** The ticks that have been written, in order. */
export function ran(world: Sandbox): { ref: string; now: number }[] {
  return [...world.store.rows('ticks').values()] as unknown as { ref: string; now: number }[]
}
