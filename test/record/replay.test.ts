import { expect, test } from 'vitest'
import type { RecordingBundle } from '../../src/core/record/bundle.ts'
import { startEmulator } from '../../src/index.ts'
import { replayed } from './sessions.ts'

test('plain requests replay byte for byte', async () => {
  await using emulator = await startEmulator({ port: 0, ephemeral: true })
  const sandbox = await emulator.sandbox('one')
  const created = await sandbox.fetch('/pages', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ title: 'a' }),
  })
  await created.text()
  await (await sandbox.fetch('/pages?limit=2')).text()
  await (await sandbox.fetch('/nothing')).text()
  const response = await fetch(`${sandbox.controlUrl}/record`)
  const bundle = (await response.json()) as RecordingBundle
  expect(await replayed(bundle)).toBeUndefined()
})
