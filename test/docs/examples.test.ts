import { symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryDirectory } from '../cli/in-process.ts'
import { batchEmulator, createBatch } from '../support/batches.ts'
import { testEmulator } from '../support/emulator.ts'
import { folderWith } from '../support/endpoint-folder.ts'
import { blocksOf, readPages } from './pages.ts'

const blocks = [...readPages()]
  .flatMap(([page, text]) => blocksOf(page, text))
  .filter(({ language }) => language === 'ts')
const endpoints = blocks.filter(({ code }) => /export default (?:\[|defineEndpoint)/.test(code))
const scenarios = blocks.filter(({ code }) => code.includes('export default defineScenario('))

test('the first example of endpoints writes a note and lists it', async () => {
  const folder = folderWith({ 'notes.ts': endpoints[0]?.code ?? '' })
  // The example imports zod, as the project of a user does.
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'))
  const emulator = await testEmulator({ endpoints: folder })
  const { status, body } = await emulator.post('/notes', { text: 'hello' })
  expect([status, body.text]).toEqual([201, 'hello'])
  expect((await emulator.get('/notes')).body.data).toEqual([body])
  expect((await emulator.get('/search')).body).toEqual({ object: 'list', data: [] })
})

test('the example of a stream sends server-sent events', async () => {
  const emulator = await testEmulator({ endpoints: folderWith({ 'converse.ts': endpoints[1]?.code ?? '' }) })
  expect((await emulator.post('/converse', {})).text).toContain('event: delta\ndata: {"text":"Hel"}\n\n')
})

test('the examples of init --endpoints answer a question, keep the messages, find pages and store files', async () => {
  const emulator = await testEmulator({
    endpoints: 'src/cli/init/templates/endpoints/endpoints',
    collections: {
      conversations: [{ id: 'c1', _emulator: { teamspace_id: 'ts-a' } }],
      pages: [
        { id: 'p1', name: 'Site handbook', teamspace_id: 'ts-a', scope: 'teamspace', created_at: '-1d' },
      ],
    },
  })
  const asked = await emulator.post('/converse', { conversation_id: 'c1', text: 'Where is the handbook?' })
  expect(asked.text).toContain('event: delta\ndata: {"text":"These "}')
  const { data } = (await emulator.get('/conversations/c1/messages')).body
  expect(data).toMatchObject([
    { role: 'user' },
    { role: 'agent', content: [{ text: expect.stringContaining('Site handbook') }] },
  ])
  expect(data[0]).not.toHaveProperty('_emulator')
  expect((await emulator.post('/converse', { conversation_id: 'c2', text: 'hello' })).status).toBe(404)
  expect((await emulator.get('/search?q=HAND')).body.data).toMatchObject([{ id: 'p1' }])
  expect((await emulator.get('/search')).status).toBe(400)
  expect((await emulator.control('GET', '/endpoints')).body).toMatchObject({ problems: [], warnings: [] })
})

test('the pages contain an example of a scenario', () => {
  expect(scenarios).not.toEqual([])
})

test.for(scenarios.map((block) => [`${block.page}:${block.line}`, block.code] as const))(
  'the scenario of %s runs through its whole timeline without an error',
  async ([, code]) => {
    const folder = temporaryDirectory()
    writeFileSync(join(folder, 'example.ts'), code)
    const emulator = await batchEmulator({}, { rate: 0, scenarios: folder })
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
