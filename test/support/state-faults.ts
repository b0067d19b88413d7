import { expect } from 'vitest'
import type { TestEmulator } from './emulator.ts'

/** Arms a rule over the control interface, as users do. */
export async function arm(emulator: TestEmulator, draft: object) {
  const response = await emulator.control('POST', '/faults', draft)
  expect(response.text).toContain('"status":"armed"')
  return response.body
}

/** A rule with one `state` action for each matching request; by default it matches each poll of a batch. */
export function moving(state: object, more: object = { match: RETRIEVE }) {
  return { do: [{ state }], ...more }
}

export const RETRIEVE = { operation: 'batch-predictions.retrieve' }

/** The issues of such a rule: pointers and details. */
export async function refused(emulator: TestEmulator, state: object): Promise<[string, string][]> {
  const response = await emulator.control('POST', '/faults', moving(state))
  expect(response.status).toBe(400)
  return response.body.details.errors.map(({ pointer, detail }: Record<string, string>) => [pointer, detail])
}
