import { expect, test } from 'vitest'
import { refuse } from '../../src/kernel/errors.ts'
import type { CutFault } from '../../src/kernel/faults/actions.ts'
import { KEYS } from '../support/base-world.ts'
import { armRule } from '../support/faults.ts'
import { bearer, overSocket, requestBytes } from '../support/wire-client.ts'
import { type TestWorld, testWorld } from '../support/world.ts'

function fillDisk({ sandbox }: TestWorld): void {
  sandbox.store.journal = {
    append: () => refuse('storage_unavailable', { detail: 'The disk is full.' }),
    durable: () => undefined,
  }
}

async function statusOf({ emulator: { port } }: TestWorld): Promise<string> {
  const headers = { Host: `127.0.0.1:${port}`, ...bearer(KEYS.KU) }
  const { text } = await overSocket(port, requestBytes({ path: '/v1/data-views', headers }))
  return text.slice(9, 12)
}

test.for<CutFault>([
  { at: 'before-read', how: 'rst' },
  { at: 'end', how: 'fin' },
])('R123 a match that no disk takes is a 507, at $at too', async (cut) => {
  const world = await testWorld()
  armRule(world.sandbox, { do: [{ cut }] })
  fillDisk(world)
  expect(await statusOf(world)).toBe('507')
})

test('R123 a connection that cannot be counted is left alone, and the emulator goes on', async () => {
  const world = await testWorld()
  armRule(world.sandbox, { do: [{ cut: { at: 'accept', how: 'rst' } }] })
  fillDisk(world)
  expect(await statusOf(world)).toBe('200')
  expect(await statusOf(world)).toBe('200')
})
