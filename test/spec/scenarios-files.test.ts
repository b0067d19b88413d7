import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { ListedScenario } from '../../src/core/scenarios/source.ts'
import { createBatch, retrieve } from '../support/batches.ts'
import { folder } from '../support/disk-emulator.ts'
import { testEmulator } from '../support/emulator.ts'
import { script, writeFiles } from '../support/scenario-folder.ts'

const files = [{ id: 'file-pdf', teamspace_id: 'ts-a', name: 'a.pdf', kind: 'pdf', pages: 10 }]

/** An emulator with these scenario files, and the messages that it logs. */
async function fileEmulator(scripts: Readonly<Record<string, string>>) {
  const scenarios = join(folder(onTestFinished), 'scenarios')
  writeFiles(scenarios, scripts)
  const said: string[] = []
  const say = (message: string) => void said.push(message)
  const logger = { info: say, warn: say, error: say }
  const emulator = await testEmulator({ collections: { files }, scenarios, logger })
  const save = (changed: Readonly<Record<string, string>>) => writeFiles(scenarios, changed)
  const start = (name: string) => emulator.control('POST', `/scenarios/${name}/start`)
  const pass = async (by: string) => (await emulator.control('POST', '/clock/advance', { by })).body
  const listed = async (name: string) =>
    (await emulator.control('GET', '/scenarios')).body.data.find((each: ListedScenario) => each.name === name)
  return { ...emulator, scenarios, said, save, start, pass, listed }
}

test('a script acts on the sandbox: a step fails the latest batch and calls a hook, rules and stubs apply', async () => {
  const emulator = await fileEmulator({
    'unlucky.ts': script(`{
      description: 'The first batch fails',
      pace: { in_progress: 'hold' },
      faults: [{ preset: 'rate-limited', match: { operation: 'pages.create' }, when: { nth: 1 } }],
      stubs: [{ method: 'GET', path: '/search', body: { q: { $request: '/query/query' } } }],
      timeline: [
        { at: '5m', do: [{ arm: { id: 'later', match: { operation: 'skills.promote' }, do: [{ respond: { status: 500 } }] } }] },
        { at: '10m', do: ({ batches }) => batches.latest()?.fail({ detail: 'As agreed.' }) },
      ],
      on: {
        'batch_prediction.failed': ({ batch, event, sandbox }) =>
          sandbox.log(\`\${batch.id} failed at \${event.at} with \${sandbox.state('files').length} file\`),
      },
    }`),
  })
  expect((await emulator.start('unlucky')).status).toBe(200)
  expect((await emulator.post('/pages', { name: 'x' })).status).toBe(429)
  expect((await emulator.get('/search?query=pier')).body).toEqual({ q: 'pier' })
  const { id } = await createBatch(emulator)
  const { failed } = await emulator.pass('1h')
  expect(failed).toEqual([])
  const batch = await retrieve(emulator, id)
  expect([batch.status, batch.failed_at]).toEqual(['failed', '2026-03-01T12:10:00.000Z'])
  expect(batch.error.detail).toContain('As agreed.')
  expect(emulator.said.at(-1)).toBe(
    `The scenario unlucky of the sandbox default: ${id} failed at ${batch.failed_at} with 1 file`,
  )
})

test('a scenario shows the text of its script, also while it is broken, and an unknown name gets the nearest one', async () => {
  const broken = script(`{ timeline: 3 }`)
  const emulator = await fileEmulator({ 'broken.ts': broken })
  const shown = await emulator.control('GET', '/scenarios/broken')
  expect(shown.body).toEqual({ ...(await emulator.listed('broken')), source: broken })
  expect(shown.body.error).toContain('broken.ts')
  const unknown = await emulator.control('GET', '/scenarios/brokn')
  expect([unknown.status, unknown.body.message]).toEqual([
    404,
    'There is no scenario "brokn". Did you mean "broken"?',
  ])
})

test('a function that throws is reported by file and line in the result, the list and the log', async () => {
  const emulator = await fileEmulator({
    'broken.ts': script(`{
      timeline: [
        {
          at: '1m',
          do: () => {
            throw new Error('nothing to fail')
          },
        },
      ],
    }`),
  })
  await emulator.start('broken')
  const { failed } = await emulator.pass('1h')
  expect(failed).toHaveLength(1)
  expect(failed[0].error).toBe(`${join(emulator.scenarios, 'broken.ts')}:7:19: nothing to fail`)
  const { active } = (await emulator.control('GET', '/scenarios')).body
  expect(active.last_error.message).toBe(failed[0].error)
  expect(emulator.said.at(-1)).toContain('broken.ts:7:19: nothing to fail')
})

test('a saved script applies to the next request soon after; a broken version leaves the last one in force', async () => {
  const stub = (body: string) => script(`{ stubs: [{ method: 'GET', path: '/search', body: ${body} }] }`)
  const emulator = await fileEmulator({ 'search.ts': stub("'first'") })
  await emulator.start('search')
  expect((await emulator.get('/search')).body).toBe('first')
  emulator.save({ 'search.ts': stub("'second'") })
  await expect.poll(async () => (await emulator.get('/search')).body).toBe('second')
  emulator.save({ 'search.ts': stub("'at once'") })
  const { body } = await emulator.control('POST', '/scenarios')
  expect(body.active).toMatchObject({ name: 'search' })
  expect(body.data).toContainEqual(expect.objectContaining({ name: 'search', valid: true }))
  expect((await emulator.get('/search')).body).toBe('at once')
  emulator.save({ 'search.ts': stub("'third', status: 'none'") })
  await expect
    .poll(async () => (await emulator.listed('search')).error)
    .toMatch(/search\.ts:\d+.*\/stubs\/0\/status/)
  expect((await emulator.get('/search')).body).toBe('at once')
})

test('an invalid scenario is listed with file, line and pointer, and does not start', async () => {
  const emulator = await fileEmulator({
    'wrong.json':
      '{\n  "faults": [\n    { "preset": "rate-limitd" }\n  ],\n  "on": { "batch.complete": 1 }\n}\n',
  })
  const wrong = await emulator.listed('wrong')
  expect(wrong).toMatchObject({ valid: false, generation: null, active: false })
  expect(wrong.error).toContain(`${join(emulator.scenarios, 'wrong.json')}:3:`)
  expect(wrong.error).toContain('Did you mean "batch.completed"?')
  expect((await emulator.start('wrong')).status).toBe(409)
})
