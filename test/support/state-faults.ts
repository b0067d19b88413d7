import { expect } from 'vitest'
import type { TestEmulator } from './emulator.ts'

/** Arms a rule through the control interface, as users do. */
export async function arm(emulator: TestEmulator, draft: object) {
  const response = await emulator.control('POST', '/faults', draft)
  expect(response.text).toContain('"status":"armed"')
  return response.body
}

/** A rule that makes one move of `state` on each request that it matches; on each poll of a batch, unless said. */
export function moving(state: object, more: object = { match: RETRIEVE }) {
  return { do: [{ state }], ...more }
}

export const RETRIEVE = { operation: 'batch-predictions.retrieve' }

/** What is wrong with such a rule: pointers and details. */
export async function refused(emulator: TestEmulator, state: object): Promise<[string, string][]> {
  const response = await emulator.control('POST', '/faults', moving(state))
  expect(response.status).toBe(400)
  return response.body.details.errors.map(({ pointer, detail }: Record<string, string>) => [pointer, detail])
}
