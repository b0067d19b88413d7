import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { ListedScenario } from '../../src/core/scenarios/source.ts'
import { folder } from '../support/disk-emulator.ts'
import { type TestEmulatorOptions, testEmulator } from '../support/emulator.ts'
import { keptLogger } from '../support/kept-logger.ts'
import { script, writeFiles } from '../support/scenario-folder.ts'

/** An emulator with this scenario file, `search.ts`, and the messages that it logs. */
async function fileEmulator(text: string, more: TestEmulatorOptions = {}) {
  const scenarios = join(folder(onTestFinished), 'scenarios')
  const save = (changed: string) => writeFiles(scenarios, { 'search.ts': changed })
  save(text)
  const { said, logger } = keptLogger('info', 'warn', 'error')
  // No limits: the clock is stopped, so polls on a slow machine would reach the rate limit.
  const emulator = await testEmulator({ scenarios, logger, limits: false, ...more })
  const listed = async () =>
    (await emulator.control('GET', '/scenarios')).body.data.find(
      ({ name }: ListedScenario) => name === 'search',
    )
  return { emulator, said, save, listed, file: join(scenarios, 'search.ts') }
}

test('a scenario shows the text of its script, also while it is broken', async () => {
  const broken = script(`{ timeline: 3 }`)
  const { emulator, listed, file } = await fileEmulator(broken)
  const entry = await listed()
  expect(entry).toMatchObject({ valid: false, generation: null, active: false })
  expect(entry.error).toContain(`${file}:2:`)
  expect((await emulator.control('GET', '/scenarios/search')).body).toEqual({ ...entry, source: broken })
  const { status, body } = await emulator.control('GET', '/scenarios/serch')
  expect([status, body.message]).toEqual([404, 'There is no scenario "serch". Did you mean "search"?'])
})

test('changes of a script apply when it is saved, broken and fixed', async () => {
  const search = (body: string) => script(`{ stubs: [{ method: 'GET', path: '/search', body: ${body} }] }`)
  const { emulator, said, save, listed, file } = await fileEmulator(search("'one'"), { scenario: 'search' })
  const response = async () => (await emulator.get('/search')).body
  expect(await response()).toBe('one')

  save(search("'two'"))
  await expect.poll(response, { interval: 20 }).toBe('two')
  expect(await listed()).toMatchObject({ valid: true, generation: 2, active: true })

  save(`${search("'three'")}const = 1\n`)
  await expect.poll(async () => (await listed()).valid, { interval: 20 }).toBe(false)
  expect((await listed()).error).toContain(`${file}:3:`)
  expect(said.filter((line) => line.includes(`${file}:3:`))).toHaveLength(1)
  expect(await response()).toBe('two')

  save(search("'at once'"))
  const { body } = await emulator.control('POST', '/scenarios')
  expect(body.data).toContainEqual(expect.objectContaining({ name: 'search', valid: true, active: true }))
  expect(await response()).toBe('at once')
})
