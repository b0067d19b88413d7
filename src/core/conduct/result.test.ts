import { expect, test } from 'vitest'
import { testEmulator } from '../../../test/support/emulator.ts'
import { batchBody, sampleRecords } from '../../../test/support/sample-calls.ts'

/** A client that creates a batch, does something before its results are removed, and something after. */
async function codesAround(before: (read: () => Promise<unknown>) => unknown, move = 'complete') {
  const emulator = await testEmulator({ collections: sampleRecords })
  const { body } = await emulator.post('/batch-predictions', batchBody())
  const read = () => emulator.get(`/batch-predictions/${body.id}/results`)
  await emulator.control('POST', `/batches/${body.id}/${move}`)
  await before(read)
  await emulator.control('POST', `/batches/${body.id}/cleanup`)
  await read()
  const { data } = (await emulator.control('GET', '/conduct')).body
  const found = data.map(({ severity, code }: Record<string, string>) => `${severity} ${code}`)
  return found.filter((each: string) => each.endsWith('job.results-unread'))
}

test('job.results-unread: only results that were removed unread, of finished items', async () => {
  expect(await codesAround(() => {})).toEqual(['note job.results-unread'])
  const found = [await codesAround((read) => read()), await codesAround(() => {}, 'expire')]
  expect(found).toEqual([[], []])
})
