import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryDirectory } from '../cli/in-process.ts'
import { batchEmulator, createBatch } from '../support/batches.ts'
import { blocksOf, readPages } from './pages.ts'

const examples = [...readPages()]
  .flatMap(([page, text]) => blocksOf(page, text))
  .filter(({ language, code }) => language === 'ts' && code.includes('export default defineScenario('))

test('the pages contain an example of a scenario', () => {
  expect(examples).not.toEqual([])
})

test.for(examples.map((block) => [`${block.page}:${block.line}`, block.code] as const))(
  'the scenario of %s runs through its whole timeline without an error',
  async ([, code]) => {
    const scenarios = temporaryDirectory()
    writeFileSync(join(scenarios, 'example.ts'), code)
    const emulator = await batchEmulator({}, { rate: 0, scenarios })
    const started = await emulator.control('POST', '/scenarios/example/start')
    expect(started.status, started.text).toBe(200)
    const { id } = await createBatch(emulator, { items: 1 })
    expect((await emulator.control('POST', '/clock/advance', { by: '1h' })).status).toBe(200)
    const polls = [
      await emulator.get(`/batch-predictions/${id}`),
      await emulator.get(`/batch-predictions/${id}`),
    ]
    expect(polls.map(({ status }) => status)).toEqual([429, 200])
    expect(polls[1]?.body.status).toBe('failed')
    const { active } = (await emulator.control('GET', '/scenarios')).body
    expect(active).toMatchObject({ name: 'example', problem: null, last_error: null })
  },
)
