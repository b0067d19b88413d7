import { onTestFinished } from 'vitest'
import * as z from 'zod'
import type { Send } from '../../src/adapters/webhooks/send.ts'
import { Slots, WebhookSender, type WebhookSenderOptions } from '../../src/adapters/webhooks/sender.ts'
import { faultHooks } from '../../src/core/faults/hooks.ts'
import type { JsonObject } from '../../src/core/json.ts'
import type { WebhookType } from '../../src/core/operation.ts'
import { change } from '../../src/core/sandboxes/change.ts'
import { Sandbox, sandboxDefaults } from '../../src/core/sandboxes/sandbox.ts'
import { service } from '../../src/core/service.ts'
import type { SandboxState } from '../../src/core/state/state.ts'
import { advance } from '../../src/core/time/advance.ts'
import type { RanEvent } from '../../src/core/time/scheduler.ts'
import { type AttemptResult, publish } from '../../src/core/webhooks/delivery.ts'
import type { WebhookRequest } from '../../src/core/webhooks/message.ts'
import type { Delivery } from '../../src/core/webhooks/records.ts'
import { webhooksResource } from '../../src/core/webhooks/resource.ts'
import { serviceFacts } from '../../src/emulator/service.ts'
import { builtState, startAt } from './built-state.ts'

/** The instant at which these sandboxes start, with a frozen clock. */
export const START = Date.parse('2026-03-01T12:00:00.000Z')

export const HOOK = 'http://127.0.0.1:9000/hook'

export const webhookTypes: readonly WebhookType[] = [
  { type: 'thing.made', description: 'A thing was made.' },
  { type: 'thing.broken', description: 'A thing has broken.' },
]

const resource = webhooksResource(webhookTypes)
const joined = service([resource], serviceFacts)

export interface OutboxEmulatorOptions {
  readonly settings?: JsonObject
  /** Subscriptions; default: one for all events at {@link HOOK}. */
  readonly webhooks?: readonly object[]
  readonly deliveries?: readonly object[]
  /** The time of the host; default: it does not move. */
  readonly host?: () => number
}

export const subscription = { id: 'hook-1', url: HOOK, created_at: '2026-01-01T00:00:00.000Z' }

export type OutboxEmulator = Awaited<ReturnType<typeof outboxEmulator>>

/** A sandbox that has only an outbox. */
export async function outboxEmulator(options: OutboxEmulatorOptions = {}) {
  const defects: unknown[] = []
  const start = await startingState(options)
  const onDefect = (error: unknown) => void defects.push(error)
  const given = { service: joined, hooks: faultHooks, host: options.host ?? (() => START), onDefect }
  const sandbox = new Sandbox({ ...sandboxDefaults, ...given }, start)
  const happened: RanEvent[] = []
  sandbox.listeners.onEvent((event) => happened.push(event))
  const all = () => [...sandbox.store.rows('webhook_deliveries').values()] as Delivery[]
  return {
    sandbox,
    /** The events that ran, in order. */
    happened,
    defects,
    /** Publishes one notice and returns its deliveries. */
    tell: (body: object = { description: 'hello' }, type = 'thing.made'): readonly Delivery[] => {
      const before = all().length
      change(sandbox, (scope) =>
        publish(scope, { type, ref: 'things/1', schema: z.unknown, body: () => body }),
      )
      return all().slice(before)
    },
    deliveries: all,
    delivery: (id: string) => sandbox.store.get('webhook_deliveries', id) as Delivery,
    /** Moves the virtual clock, and waits for webhooks that are sent during this time. */
    advance: async (ms: number) => void (await advance(sandbox, { to: (now) => now + ms })),
    reset: () => sandbox.replaceWith(start),
    /** A sender that is stopped after the test. */
    sender: ({
      slots = new Slots(),
      ...others
    }: Pick<WebhookSenderOptions, 'send'> & Partial<WebhookSenderOptions>) => {
      const sender = new WebhookSender({ sandbox, slots, ...others })
      onTestFinished(() => sender.stop())
      sandbox.deliveries.add(sender)
      sender.start()
      return sender
    },
  }
}

/** A sandbox with a frozen clock; throws the issues if its records are invalid. */
export async function startingState({
  settings = {},
  webhooks = [subscription],
  deliveries = [],
}: OutboxEmulatorOptions): Promise<SandboxState> {
  const collections = { webhooks, webhook_deliveries: deliveries }
  return builtState({ collections }, startAt(START, { settings }), joined)
}

/** One request that a fake receiver has not responded to yet. */
export interface HeldRequest {
  readonly message: WebhookRequest
  readonly signal: AbortSignal
  response(status: number): void
  end(outcome: AttemptResult): void
}

/** A `send` that responds when the test decides. */
export function heldSend(): { readonly send: Send; readonly held: HeldRequest[] } {
  const held: HeldRequest[] = []
  const send: Send = (message, { signal }) =>
    new Promise((resolve) => {
      held.push({ message, signal, end: resolve, response: (status) => resolve(outcomeOf(status)) })
    })
  return { send, held }
}

/** A `send` that responds at once with these statuses in turn; the last one repeats. */
export function promptSend(...statuses: readonly number[]): {
  readonly send: Send
  readonly sent: WebhookRequest[]
} {
  const sent: WebhookRequest[] = []
  const send: Send = async (message) => {
    sent.push(message)
    return outcomeOf(statuses[Math.min(sent.length, statuses.length) - 1] ?? 200)
  }
  return { send, sent }
}

export function outcomeOf(status: number): AttemptResult {
  return status < 300
    ? { outcome: 'delivered', status, error: null }
    : { outcome: 'failed', status, error: `responded with ${status}` }
}

/** Waits until all callbacks that are ready have run. */
export function ticks(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

export function statuses(emulator: OutboxEmulator): string[] {
  return emulator.deliveries().map(({ status }) => status)
}

export function attemptsOf({ attempts }: Delivery) {
  return attempts.map(({ attempt, outcome, status }) => [attempt, outcome, status])
}
