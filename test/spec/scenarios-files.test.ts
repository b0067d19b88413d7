import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { ListedScenario } from '../../src/core/scenarios/source.ts'
import { createBatch } from '../support/batches.ts'
import { folder } from '../support/disk-emulator.ts'
import { testEmulator } from '../support/emulator.ts'
import { keptLogger } from '../support/kept-logger.ts'
import { script, writeFiles } from '../support/scenario-folder.ts'

const files = [{ id: 'file-pdf', teamspace_id: 'ts-a', name: 'a.pdf', kind: 'pdf', pages: 10 }]

/** An emulator with these scenario files, and the messages that it logs. */
async function fileEmulator(scripts: Readonly<Record<string, string>>, scenario?: string) {
  const scenarios = join(folder(onTestFinished), 'scenarios')
  writeFiles(scenarios, scripts)
  const { said, logger } = keptLogger('info', 'warn', 'error')
  // No limits: the clock is stopped, so polls on a slow machine would reach the rate limit.
  const options = { collections: { files }, scenarios, logger, limits: false }
  const emulator = await testEmulator(scenario === undefined ? options : { ...options, scenario })
  return {
    ...emulator,
    said,
    file: (name: string) => join(scenarios, name),
    save: (changed: Readonly<Record<string, string>>) => writeFiles(scenarios, changed),
    listed: async (name: string) => {
      const { data } = (await emulator.control('GET', '/scenarios')).body
      return data.find((each: ListedScenario) => each.name === name)
    },
  }
}

test('a scenario shows the text of its script, also while it is broken, and an unknown name gets the nearest one', async () => {
  const broken = script(`{ timeline: 3 }`)
  const emulator = await fileEmulator({ 'broken.ts': broken })
  const shown = await emulator.control('GET', '/scenarios/broken')
  expect(shown.body).toEqual({ ...(await emulator.listed('broken')), source: broken })
  const unknown = await emulator.control('GET', '/scenarios/brokn')
  const message = 'There is no scenario "brokn". Did you mean "broken"?'
  expect(unknown).toMatchObject({ status: 404, body: { message } })
})

test('an invalid scenario is listed with file, line and pointer, and does not start', async () => {
  const lines = [
    '{',
    '  "faults": [',
    '    { "preset": "rate-limitd" }',
    '  ], "on": { "batch.complete": 1 }',
    '}',
  ]
  const emulator = await fileEmulator({ 'wrong.json': lines.join('\n') })
  const wrong = await emulator.listed('wrong')
  expect(wrong).toMatchObject({ valid: false, generation: null, active: false })
  expect(wrong.error).toContain(`${emulator.file('wrong.json')}:3:`)
  expect(wrong.error).toContain('Did you mean "batch.completed"?')
  expect((await emulator.control('POST', '/scenarios/wrong/start')).status).toBe(409)
})

test('changes of a script apply when it is saved, broken and fixed, and state and clock stay unchanged', async () => {
  const search = (body: string) => script(`{ stubs: [{ method: 'GET', path: '/search', body: ${body} }] }`)
  const emulator = await fileEmulator({ 'search.ts': search("'one'") }, 'search')
  const response = async () => (await emulator.get('/search')).body
  const entry = () => emulator.listed('search')
  const unchanged = async () => [
    JSON.stringify(emulator.sandbox.document().collections),
    (await emulator.control('GET', '/clock')).body,
  ]
  await createBatch(emulator)
  await emulator.control('POST', '/clock/advance', { by: '90s' })
  const before = await unchanged()
  expect(await response()).toBe('one')

  emulator.save({ 'search.ts': search("'two'") })
  await expect.poll(response, { interval: 20 }).toBe('two')
  expect(await entry()).toMatchObject({ valid: true, generation: 2, active: true })

  emulator.save({ 'search.ts': `${search("'three'")}const = 1\n` })
  await expect.poll(async () => (await entry()).valid, { interval: 20 }).toBe(false)
  const place = `${emulator.file('search.ts')}:3:`
  expect((await entry()).error).toContain(place)
  expect(emulator.said.filter((line) => line.includes(place))).toHaveLength(1)
  expect(await response()).toBe('two')
  expect((await emulator.control('GET', '/scenarios')).body.active.generation).toBe(2)

  emulator.save({ 'search.ts': search("'at once'") })
  const { body } = await emulator.control('POST', '/scenarios')
  expect(body.data).toContainEqual(expect.objectContaining({ name: 'search', valid: true, active: true }))
  expect(await response()).toBe('at once')
  expect(await unchanged()).toEqual(before)
})
