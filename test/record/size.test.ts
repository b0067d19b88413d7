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

test('the recording of one request has less than 20 kB, also after changes of the state', async () => {
  await using emulator = await startEmulator({ listen: false, ephemeral: true, seed: 7 })
  const { fetch, record, state, faults } = emulator.defaultSandbox
  await (await fetch('/pages', { json: { name: 'Roof plan' } })).text()
  expect(await bytesOf(record())).toBeLessThan(5_000)
  const [first, second] = await state.list('pages')
  await state.delete('pages', first?.id ?? '')
  await state.put('pages', { ...(second as NonNullable<typeof second>), name: 'Other' })
  await faults.preset('server-error')
  expect(await bytesOf(record())).toBeLessThan(20_000)
})

test('a recording of fixtures without the shipped records has the whole state', async () => {
  await using emulator = await startEmulator({ listen: false, ephemeral: true, fixtures: 'empty' })
  const bundle = await emulator.defaultSandbox.record()
  expect(bundle.start).toBeUndefined()
  expect(bundle.state).toMatchObject({ revision: 0, schedule: [], collections: { pages: [] } })
})

async function bytesOf(bundle: Promise<unknown>): Promise<number> {
  return Buffer.byteLength(JSON.stringify(await bundle, null, 2))
}
