import { expect } from 'vitest'
import type { DeliverFault } from '../../src/kernel/faults/actions.ts'
import type { FaultDraft } from '../../src/kernel/faults/draft.ts'
import { createBatch, intervene } from './batches.ts'
import type { React } from './webhook-receiver.ts'
import { type WebhookWorld, webhookWorld } from './webhook-world.ts'
import type { TestWorld, TestWorldOptions } from './world.ts'

/** Arms a rule over the control interface. */
export async function armed(world: TestWorld, draft: FaultDraft): Promise<void> {
  const { status, text } = await world.control('POST', '/faults', draft)
  expect([status, text]).toEqual([201, expect.any(String)])
}

/** A world with a receiver and one rule, `r`, about every webhook. */
export async function faultedWorld(
  deliver: DeliverFault,
  react?: React,
  options?: TestWorldOptions,
  rule: FaultDraft = {},
): Promise<WebhookWorld> {
  const made = await webhookWorld(react, options)
  await armed(made.world, { id: 'r', match: { webhook: '*' }, do: [{ deliver }], ...rule })
  return made
}

/** Creates a batch and completes it at once. @returns its id */
export async function completedBatch(world: TestWorld): Promise<string> {
  const { id } = await createBatch(world, { items: 1 })
  intervene(world, 'complete', id)
  return id
}
