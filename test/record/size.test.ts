import { expect, test } from 'vitest'
import { aBatch, startEmulator } from '../../src/index.ts'

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
  // Without endpoints of the user there is no part about them.
  expect(bundle).not.toHaveProperty('endpoints')
  expect(bundle.state).toMatchObject({ revision: 0, schedule: [], collections: { pages: [] } })
})

async function bytesOf(bundle: Promise<unknown>): Promise<number> {
  return Buffer.byteLength(JSON.stringify(await bundle, null, 2))
}

test('the recording of 1,001 usual requests has less than 2 MB, with the checksum also of what the log no longer has', async () => {
  await using emulator = await startEmulator({ listen: false, ephemeral: true, limits: false, rate: 0 })
  const { batches, fetch, record, requests } = emulator.defaultSandbox
  const created = await fetch('/batch-predictions', { json: aBatch({ items: 20 }) })
  const { id } = (await created.json()) as { id: string }
  await batches.complete(id)
  const calls = [
    () => fetch('/organization/teamspaces/teamspace-harbor/users?limit=20'),
    () => fetch('/pages', { json: { name: 'Roof plan of the second floor' } }),
    () => fetch(`/batch-predictions/${id}/results`),
  ]
  for (let n = 0; n < 1_000; n++) await (await calls[n % 3]?.())?.text()
  expect((await requests.list()).some(({ id }) => id === 'default-000001')).toBe(false)
  const { inputs, dropped } = await record()
  expect([inputs.length, dropped]).toEqual([1_002, 0])
  expect(inputs[0]).toMatchObject({ output: { crc32: expect.any(Number) } })
  expect(await bytesOf(record())).toBeLessThan(2_000_000)
})
