import { expect } from 'vitest'
import type { DeliverFault } from '../../src/core/faults/deliver.ts'
import type { FaultDraft } from '../../src/core/faults/rule.ts'
import { createBatch, intervene } from './batches.ts'
import type { TestEmulator, TestEmulatorOptions } from './emulator.ts'
import { webhookEmulator } from './webhook-emulator.ts'
import type { React } from './webhook-receiver.ts'

/** Arms a rule over the control interface. */
export async function armed(emulator: TestEmulator, draft: FaultDraft): Promise<void> {
  const { status, text } = await emulator.control('POST', '/faults', draft)
  expect([status, text]).toEqual([201, expect.any(String)])
}

/** A sandbox with a receiver and one rule, `r`, that matches every webhook. */
export async function faultedEmulator(
  deliver: DeliverFault,
  react?: React,
  options?: TestEmulatorOptions,
  rule: FaultDraft = {},
) {
  const made = await webhookEmulator(react, options)
  await armed(made.emulator, { id: 'r', match: { webhook: '*' }, do: [{ deliver }], ...rule })
  return made
}

/** Creates a batch and completes it at once. @returns its id */
export async function completedBatch(emulator: TestEmulator): Promise<string> {
  const { id } = await createBatch(emulator, { items: 1 })
  intervene(emulator, 'complete', id)
  return id
}
