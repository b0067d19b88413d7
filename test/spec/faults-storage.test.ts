import { expect, test } from 'vitest'
import type { CutFault } from '../../src/server/http/faults/cut.ts'
import { KEYS } from '../support/base-state.ts'
import type { TestEmulator } from '../support/emulator.ts'
import { fullDisk } from '../support/journal.ts'
import { underRule } from '../support/under-rule.ts'
import { bearer, overSocket, requestBytes } from '../support/wire-client.ts'

function fillDisk({ sandbox }: TestEmulator): void {
  sandbox.store.journal = fullDisk
}

async function statusOf({ emulator: { port } }: TestEmulator): Promise<string> {
  const headers = { Host: `127.0.0.1:${port}`, ...bearer(KEYS.KU) }
  const { text } = await overSocket(port, requestBytes({ path: '/v1/data-views', headers }))
  return text.slice(9, 12)
}

test.for<CutFault>([
  { at: 'before-read', how: 'rst' },
  { at: 'end', how: 'fin' },
])('a match that cannot be stored is a 507, also at $at', { tags: ['R123'] }, async (cut) => {
  const emulator = await underRule({ do: [{ cut }] })
  fillDisk(emulator)
  expect(await statusOf(emulator)).toBe('507')
})

test('a connection fault that cannot be counted is skipped', { tags: ['R123'] }, async () => {
  const emulator = await underRule({ times: 1_000, do: [{ cut: { at: 'accept', how: 'rst' } }] })
  fillDisk(emulator)
  expect(await statusOf(emulator)).toBe('200')
  expect(await statusOf(emulator)).toBe('200')
})
