import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { ListedScenario } from '../../src/core/scenarios/source.ts'
import { createBatch } from '../support/batches.ts'
import { folder } from '../support/disk-emulator.ts'
import { type TestEmulator, testEmulator } from '../support/emulator.ts'
import { script, writeFiles } from '../support/scenario-folder.ts'

const SOON = { interval: 20 }

const files = [{ id: 'file-pdf', teamspace_id: 'ts-a', name: 'a.pdf', kind: 'pdf', pages: 10 }]

interface Folder {
  readonly emulator: TestEmulator
  readonly said: readonly string[]
  file(name: string): string
  save(changed: Readonly<Record<string, string>>): void
  remove(name: string): void
}

/** An emulator with a scenarios folder. */
async function scenariosIn(scripts: Readonly<Record<string, string>>, scenario?: string): Promise<Folder> {
  const path = join(folder(onTestFinished), 'scenarios')
  writeFiles(path, scripts)
  const said: string[] = []
  const say = (message: string) => void said.push(message)
  const logger = { info: say, warn: say, error: say }
  const started = scenario === undefined ? {} : { scenario }
  return {
    // No limits: the clock is stopped, so polls on a slow machine would reach the rate limit.
    emulator: await testEmulator({
      collections: { files },
      scenarios: path,
      logger,
      limits: false,
      ...started,
    }),
    said,
    file: (name) => join(path, name),
    save: (changed) => writeFiles(path, changed),
    remove: (name) => rmSync(join(path, name)),
  }
}

const search = (body: string, before = '') =>
  script(`{ stubs: [{ method: 'GET', path: '/search', body: ${body} }] }`, before)

const response = async (emulator: TestEmulator) => (await emulator.get('/search')).body
/** The scenarios of the folder, without the built-in ones. */
const list = async (emulator: TestEmulator) => {
  const { body } = await emulator.control('GET', '/scenarios')
  return { ...body, data: body.data.filter(({ origin }: ListedScenario) => origin === 'project') }
}
const entry = async (emulator: TestEmulator) => (await list(emulator)).data[0]
const clock = async (emulator: TestEmulator) => (await emulator.control('GET', '/clock')).body
const records = ({ sandbox }: TestEmulator) => JSON.stringify(sandbox.document().collections)

test('changes of a script apply when it is saved, broken and fixed, and state and clock stay unchanged', async () => {
  const { emulator, said, file, save } = await scenariosIn({ 'search.ts': search("'one'") }, 'search')
  await createBatch(emulator)
  await emulator.control('POST', '/clock/advance', { by: '90s' })
  const before = [records(emulator), await clock(emulator)]
  expect(await response(emulator)).toBe('one')

  save({ 'search.ts': search("'two'") })
  await expect.poll(() => response(emulator), SOON).toBe('two')
  expect(await entry(emulator)).toMatchObject({ valid: true, generation: 2, active: true })

  save({ 'search.ts': `${search("'three'")}const = 1\n` })
  await expect.poll(async () => (await entry(emulator)).valid, SOON).toBe(false)
  const { error } = await entry(emulator)
  expect(error).toMatch(new RegExp(`^${file('search.ts')}:3:\\d+: `))
  expect(said.filter((line) => line.includes(`${file('search.ts')}:3:`))).toHaveLength(1)
  expect(await response(emulator)).toBe('two')
  expect((await list(emulator)).active).toMatchObject({ name: 'search', generation: 2 })

  save({ 'search.ts': search("'four'") })
  await expect.poll(() => response(emulator), SOON).toBe('four')
  expect(await entry(emulator)).toMatchObject({ valid: true, error: null, active: true })
  expect((await entry(emulator)).generation).toBeGreaterThan(2)
  expect([records(emulator), await clock(emulator)]).toEqual(before)
})

test('changes of a shared helper apply like changes of the script that imports it', async () => {
  const said = (text: string) => `export const text: string = '${text}'\n`
  const { emulator, file, save } = await scenariosIn(
    { 'search.ts': search('text', "import { text } from './_words.ts'\n"), '_words.ts': said('one') },
    'search',
  )
  expect(await response(emulator)).toBe('one')
  save({ '_words.ts': said('two') })
  await expect.poll(() => response(emulator), SOON).toBe('two')
  save({ '_words.ts': 'export const text: string = \n' })
  await expect.poll(async () => (await entry(emulator)).valid, SOON).toBe(false)
  expect((await entry(emulator)).error).toContain(file('_words.ts'))
  expect(await response(emulator)).toBe('two')
  save({ '_words.ts': said('three') })
  await expect.poll(() => response(emulator), SOON).toBe('three')
})

test('changes of a JSON scenario apply in the same way, and its problem has a line', async () => {
  const json = (name: string, status: unknown) =>
    `{\n  "stubs": [\n    { "method": "GET", "path": "/search", "status": ${JSON.stringify(status)}, "body": "${name}" }\n  ]\n}\n`
  const { emulator, file, save } = await scenariosIn({ 'search.json': json('one', 200) }, 'search')
  expect(await response(emulator)).toBe('one')
  save({ 'search.json': json('two', 200) })
  await expect.poll(() => response(emulator), SOON).toBe('two')
  save({ 'search.json': json('three', 'none') })
  await expect.poll(async () => (await entry(emulator)).valid, SOON).toBe(false)
  expect((await entry(emulator)).error).toContain(`${file('search.json')}:3:`)
  expect(await response(emulator)).toBe('two')
  save({ 'search.json': json('four', 200) })
  await expect.poll(() => response(emulator), SOON).toBe('four')
})

test('an unchanged rule keeps its counters after a reload, and a changed one starts again', async () => {
  const storm = (status: number, note: string) =>
    script(
      `{
        faults: [
          { id: 'same', match: { operation: 'pages.create' }, when: { nth: 2 }, do: [{ respond: { status: 503 } }] },
          { id: 'other', match: { operation: 'skills.promote' }, do: [{ respond: { status: ${status} } }] },
        ],
      }`,
      `// ${note}\n`,
    )
  const { emulator, save } = await scenariosIn({ 'storm.ts': storm(500, 'first') }, 'storm')
  expect((await emulator.post('/pages', { name: 'x' })).status).not.toBe(503)
  save({ 'storm.ts': storm(502, 'second') })
  await expect.poll(async () => (await entry(emulator)).generation, SOON).toBe(2)
  expect((await emulator.post('/pages', { name: 'x' })).status).toBe(503)
  expect((await emulator.post('/skills/skill-1/promote', {})).status).toBe(502)
})

test('an added script can be started, and a removed one leaves its rules and stubs in force', async () => {
  const { emulator, save, remove } = await scenariosIn({ 'search.ts': search("'one'") }, 'search')
  save({ 'added.ts': script('{}') })
  await expect.poll(async () => (await list(emulator)).data.length, SOON).toBe(2)
  remove('search.ts')
  await expect
    .poll(async () => String((await list(emulator)).active.problem), SOON)
    .toContain('its script is missing')
  expect(await response(emulator)).toBe('one')
  expect((await emulator.control('POST', '/scenarios/added/start')).status).toBe(200)
  expect((await emulator.get('/search')).status).toBe(501)
})
