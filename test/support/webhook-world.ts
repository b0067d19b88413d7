import { expect } from 'vitest'
import type { Receipt } from '../../src/kernel/time/receipt.ts'
import { batchWorld } from './batches.ts'
import { type React, type WebhookReceiver, webhookReceiver } from './webhook-receiver.ts'
import type { TestWorld, TestWorldOptions } from './world.ts'

/** A test world with files and one subscription to everything, and the receiver behind it. */
export interface WebhookWorld {
  readonly world: TestWorld
  readonly receiver: WebhookReceiver
}

export async function webhookWorld(
  react?: React,
  { settings = {}, ...options }: TestWorldOptions = {},
): Promise<WebhookWorld> {
  const receiver = await webhookReceiver(react)
  const webhooks = [{ id: 'hook', url: receiver.url, created_at: '2026-01-01T00:00:00.000Z' }]
  const world = await batchWorld(settings, { ...options, collections: { webhooks, ...options.collections } })
  return { world, receiver }
}

/** Lets virtual time pass and everything that falls due be delivered. */
export async function pass(world: TestWorld, by: string): Promise<Receipt> {
  const { status, body } = await world.control('POST', '/clock/advance', { by })
  expect(status).toBe(200)
  return body
}

/** The deliveries of a world as the control interface lists them. */
export async function deliveriesOf(world: TestWorld) {
  const { status, body } = await world.control('GET', '/webhooks/deliveries')
  expect([status, body.object]).toEqual([200, 'list'])
  return body.data
}
