import * as z from 'zod'
import type { EventHandler, Milestone } from '../../src/core/operation.ts'
import { Sandbox, sandboxDefaults } from '../../src/core/sandboxes/sandbox.ts'
import type { Resource } from '../../src/core/service.ts'
import { service } from '../../src/core/service.ts'
import type { Row } from '../../src/core/state/commit.ts'
import type { HostTime } from '../../src/core/time/clock.ts'
import { serviceFacts } from '../../src/emulator/service.ts'
import { builtState, startAt } from './built-state.ts'

/** A sandbox that has only events, without a service: for tests of passing time. */
export const START = Date.parse('2026-03-01T12:00:00.000Z')

const ticks: EventHandler = {
  kind: 'tick',
  description: 'Writes down the instant at which it ran.',
  handle: ({ tx, now, newId }, { ref }) => tx.put('ticks', { id: newId(), ref, now } as Row),
}
const chain: EventHandler = {
  kind: 'chain',
  description: 'Schedules itself one second later.',
  handle: ({ schedule, now }, { ref }) => schedule(event('chain', ref, now + 1_000)),
}
const stuck: EventHandler = {
  kind: 'stuck',
  description: 'Schedules itself for the same instant, again and again.',
  handle: ({ schedule, now }, { ref }) => schedule(event('stuck', ref, now)),
}
const broken: EventHandler = {
  kind: 'broken',
  description: 'Fails after having written.',
  handle: ({ tx }) => {
    tx.put('ticks', { id: 'never' })
    throw new Error('the handler failed')
  },
}

/** Reached when the tick of a reference has been written. */
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
  return { kind, ref, due, urgency: 'work', description: `${kind} of ${ref}` } as const
}

export async function clockwork(
  options: {
    rate?: number
    host?: HostTime
    defects?: unknown[]
    warnings?: string[]
    mostEvents?: number
  } = {},
): Promise<Sandbox> {
  const resource: Resource = {
    name: 'resource',
    operations: [],
    collections: [],
    events: [ticks, chain, stuck, broken],
    milestones: [ticked],
  }
  const host = options.host ?? (() => START)
  const start = startAt(START, { rate: options.rate ?? 0, host })
  const state = await builtState({}, start, service([resource], serviceFacts))
  const onDefect = (error: unknown) => options.defects?.push(error)
  const onWarning = (message: string) => void options.warnings?.push(message)
  const { mostEvents = sandboxDefaults.mostEvents } = options
  const given = { service: service([resource], serviceFacts), host, mostEvents, onDefect, onWarning }
  return new Sandbox({ ...sandboxDefaults, ...given }, state)
}

/** All written ticks, in order. */
export function ran(sandbox: Sandbox): { ref: string; now: number }[] {
  return [...sandbox.store.rows('ticks').values()] as unknown as { ref: string; now: number }[]
}
