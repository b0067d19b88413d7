import { expect, test } from 'vitest'
import { aBatch, startEmulator } from '../../src/index.ts'

test('the recording of 1,000 usual requests has less than 2 MB', async () => {
  await using emulator = await startEmulator({ listen: false, ephemeral: true, limits: false, rate: 0 })
  const { batches, fetch, record } = emulator.defaultSandbox
  const json = aBatch({ items: 20 })
  const { id } = (await (await fetch('/batch-predictions', { json })).json()) as { id: string }
  await batches.complete(id)
  const calls: readonly (() => Promise<Response>)[] = [
    () => fetch('/organization/teamspaces/teamspace-harbor/users?limit=20'),
    () => fetch('/pages', { json: { name: 'Roof plan of the second floor' } }),
    () => fetch(`/batch-predictions/${id}/results`),
  ]
  const statuses = new Set<number>()
  for (let n = 0; n < 998; n++) {
    const response = await (calls[n % 3] as (typeof calls)[number])()
    statuses.add(response.status)
    await response.arrayBuffer()
  }
  expect([...statuses]).toEqual([200])
  const bundle = await record()
  expect(bundle.inputs.length + bundle.dropped).toBe(1_000)
  expect(bundle.dropped).toBe(0)
  const bytes = Buffer.byteLength(JSON.stringify(bundle, null, 2))
  expect(bytes).toBeLessThan(2_000_000)
})
