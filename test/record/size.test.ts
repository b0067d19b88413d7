import { expect, test } from 'vitest'
import { startEmulator } from '../../src/index.ts'

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

test('a recording has the checksum of a response that the log no longer has', async () => {
  await using emulator = await startEmulator({ listen: false, ephemeral: true, limits: false })
  const { fetch, record, requests } = emulator.defaultSandbox
  for (let n = 0; n < 1_001; n++) await (await fetch('/data-views')).text()
  expect((await requests.list()).some(({ id }) => id === 'default-000001')).toBe(false)
  const { inputs } = await record()
  expect(inputs[0]).toMatchObject({ output: { crc32: expect.any(Number) } })
})
