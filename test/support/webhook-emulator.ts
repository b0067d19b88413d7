import { expect } from 'vitest'
import type { AdvanceResult } from '../../src/core/time/scheduler.ts'
import { batchEmulator } from './batches.ts'
import type { TestEmulator, TestEmulatorOptions } from './emulator.ts'
import { type React, webhookReceiver } from './webhook-receiver.ts'

/** A test sandbox with files, one subscription to all events, and its receiver. */
export async function webhookEmulator(
  react?: React,
  { settings = {}, ...options }: TestEmulatorOptions = {},
) {
  const receiver = await webhookReceiver(react)
  const webhooks = [{ id: 'hook', url: receiver.url, created_at: '2026-01-01T00:00:00.000Z' }]
  const emulator = await batchEmulator(settings, {
    ...options,
    collections: { webhooks, ...options.collections },
  })
  return { emulator, receiver }
}

/** Advances the virtual clock and waits until all due webhooks are delivered. */
export async function pass(emulator: TestEmulator, by: string): Promise<AdvanceResult> {
  const { status, body } = await emulator.control('POST', '/clock/advance', { by })
  expect(status).toBe(200)
  return body
}

/** The deliveries of a sandbox as the control interface lists them. */
export async function deliveriesOf(emulator: TestEmulator) {
  const { status, body } = await emulator.control('GET', '/webhooks/deliveries')
  expect([status, body.object]).toEqual([200, 'list'])
  return body.data
}
