import { expect, test } from 'vitest'
import { batchEmulator, createBatch } from '../support/batches.ts'
import { dataFolder, killedData } from '../support/data-folder.ts'
import type { TestEmulator } from '../support/emulator.ts'

const LEVELS = 250

/** A schema of 250 objects, one inside the other; the body around it has 502 levels. */
function nested(): object {
  let schema: object = { type: 'string' }
  for (let level = 0; level < LEVELS; level++)
    schema = { type: 'object', properties: { a: schema }, required: ['a'] }
  return schema
}

test('a schema of 500 levels survives a kill and a clean exit', { tags: ['R200', 'R280'] }, async () => {
  const data = dataFolder()
  const aliveOn = (folder: string) => batchEmulator({}, { ephemeral: false, data: folder })
  const first = await aliveOn(data)
  const { id } = await createBatch(first, { output_schema: nested(), items: 1 })
  first.advance('1h')
  const resultsOf = async (emulator: TestEmulator) =>
    (await emulator.get(`/batch-predictions/${id}/results`)).text
  const results = await resultsOf(first)
  let value = JSON.parse(results).output
  for (let level = 0; level < LEVELS; level++) value = value.a
  expect(value).toEqual(expect.any(String))

  expect(await resultsOf(await aliveOn(killedData(data)))).toBe(results)
  await first.emulator.close()
  expect(await resultsOf(await aliveOn(data))).toBe(results)
})
