import { onTestFinished } from 'vitest'
import { Courier, type CourierOptions } from '../../src/doors/webhooks/courier.ts'
import type { Message } from '../../src/doors/webhooks/message.ts'
import type { Send } from '../../src/doors/webhooks/send.ts'
import { Slots } from '../../src/doors/webhooks/slots.ts'
import { Ledger } from '../../src/kernel/assumptions.ts'
import type { JsonObject } from '../../src/kernel/json.ts'
import { type Notice, service } from '../../src/kernel/operation.ts'
import { type Outcome, publish } from '../../src/kernel/outbox/delivery.ts'
import type { Delivery } from '../../src/kernel/outbox/records.ts'
import { outboxRoom } from '../../src/kernel/outbox/room.ts'
import { buildWorld } from '../../src/kernel/state/starting-world.ts'
import type { WorldState } from '../../src/kernel/state/state.ts'
import type { ReceiptEvent } from '../../src/kernel/time/receipt.ts'
import { Sandbox } from '../../src/kernel/worlds/sandbox.ts'
import { worldDefaults } from '../../src/kernel/worlds/world.ts'

/** The instant at which these worlds start, and where their clocks stand still. */
export const START = Date.parse('2026-03-01T12:00:00.000Z')

export const HOOK = 'http://127.0.0.1:9000/hook'

export const notices: readonly Notice[] = [
  { type: 'thing.made', says: 'A thing was made.' },
  { type: 'thing.broken', says: 'A thing has broken.' },
]

const room = outboxRoom(notices)
const joined = service([room])
const ledger = new Ledger(room.assumptions === undefined ? [] : [room.assumptions])

export interface OutboxWorldOptions {
  readonly settings?: JsonObject
  /** Subscriptions; one for everything at {@link HOOK} when left out. */
  readonly webhooks?: readonly object[]
  readonly deliveries?: readonly object[]
  /** The host's time; stands still when left out. */
  readonly host?: () => number
}

/** A world with nothing but an outbox. */
export interface OutboxWorld {
  readonly sandbox: Sandbox
  /** What happened while time passed, in order. */
  readonly happened: readonly ReceiptEvent[]
  /** What went wrong on the emulator's side. */
  readonly surprises: unknown[]
  /** Publishes one notice and returns its deliveries. */
  tell(body?: object, type?: string): readonly Delivery[]
  deliveries(): readonly Delivery[]
  delivery(id: string): Delivery
  /** Moves the virtual clock by so many milliseconds, waiting for what is sent meanwhile. */
  advance(ms: number): Promise<void>
  /** The starting world again. */
  reset(): void
  /** A courier that is stopped at the end of the test. */
  courier(options: Pick<CourierOptions, 'send'> & Partial<CourierOptions>): Courier
}

export const subscription = { id: 'hook-1', url: HOOK, created_at: '2026-01-01T00:00:00.000Z' }

export async function outboxWorld(options: OutboxWorldOptions = {}): Promise<OutboxWorld> {
  const surprises: unknown[] = []
  const start = await startingWorld(options)
  const sandbox = new Sandbox(
    {
      ...worldDefaults,
      service: joined,
      ledger,
      host: options.host ?? (() => START),
      onSurprise: (error) => void surprises.push(error),
    },
    start,
  )
  const happened: ReceiptEvent[] = []
  sandbox.onEvent((event) => happened.push(event))
  const all = () => [...sandbox.store.rows('webhook_deliveries').values()] as Delivery[]
  return {
    sandbox,
    happened,
    surprises,
    tell: (body = { says: 'hello' }, type = 'thing.made') => {
      const before = all().length
      sandbox.change((scope) => publish(scope, { type, ref: 'things/1', body: () => body }))
      return all().slice(before)
    },
    deliveries: all,
    delivery: (id) => sandbox.store.get('webhook_deliveries', id) as Delivery,
    advance: async (ms) => void (await sandbox.advance({ to: (now) => now + ms })),
    reset: () => sandbox.become(start),
    courier: ({ slots = new Slots(), ...others }) => {
      const courier = new Courier({ sandbox, slots, ...others })
      onTestFinished(() => courier.stop())
      sandbox.outbox = courier
      courier.start()
      return courier
    },
  }
}

/** A world at rest, or the issues of what it was to be made of. */
export async function startingWorld({
  settings = {},
  webhooks = [subscription],
  deliveries = [],
}: OutboxWorldOptions): Promise<WorldState> {
  const collections = { webhooks, webhook_deliveries: deliveries }
  const start = {
    seed: 1,
    now: START,
    rate: 0,
    skip_on_poll: false,
    settings,
    strict: false,
    host: () => START,
  }
  const built = await buildWorld({ collections, generate: {} }, start, joined, ledger)
  if ('world' in built) return built.world
  throw new Error(built.issues.map(({ pointer, detail }) => `${pointer} ${detail}`).join('\n'))
}

/** One request that a fake receiver holds in its hands. */
export interface HeldRequest {
  readonly message: Message
  readonly signal: AbortSignal
  answer(status: number): void
  end(outcome: Outcome): void
}

/** A way to send that answers when the test says so. */
export function heldSend(): { readonly send: Send; readonly held: HeldRequest[] } {
  const held: HeldRequest[] = []
  const send: Send = (message, { signal }) =>
    new Promise((resolve) => {
      held.push({ message, signal, end: resolve, answer: (status) => resolve(outcomeOf(status)) })
    })
  return { send, held }
}

/** A way to send that answers at once: with these statuses in turn, the last of them for good. */
export function promptSend(...statuses: readonly number[]): {
  readonly send: Send
  readonly sent: Message[]
} {
  const sent: Message[] = []
  const send: Send = async (message) => {
    sent.push(message)
    return outcomeOf(statuses[Math.min(sent.length, statuses.length) - 1] ?? 200)
  }
  return { send, sent }
}

export function outcomeOf(status: number): Outcome {
  return status < 300
    ? { outcome: 'delivered', status, error: null }
    : { outcome: 'failed', status, error: `answered ${status}` }
}

/** Lets everything that is ready to run do so. */
export function ticks(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
