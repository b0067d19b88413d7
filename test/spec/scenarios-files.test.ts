import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createBatch, retrieve } from '../support/batches.ts'
import { folder } from '../support/disk-world.ts'
import { script, writeFiles } from '../support/scenario-folder.ts'
import { testWorld } from '../support/world.ts'

const files = [{ id: 'file-pdf', teamspace_id: 'ts-a', name: 'a.pdf', kind: 'pdf', pages: 10 }]

/** A world whose scenarios are these files, and what its log says. */
async function fileWorld(scripts: Readonly<Record<string, string>>) {
  const scenarios = join(folder(onTestFinished), 'scenarios')
  writeFiles(scenarios, scripts)
  const said: string[] = []
  const say = (message: string) => void said.push(message)
  const logger = { info: say, warn: say, error: say }
  const world = await testWorld({ collections: { files }, scenarios, logger })
  const save = (changed: Readonly<Record<string, string>>) => writeFiles(scenarios, changed)
  const start = (name: string) => world.control('POST', `/scenarios/${name}/start`)
  const pass = async (by: string) => (await world.control('POST', '/clock/advance', { by })).body
  return { ...world, scenarios, said, save, start, pass }
}

test('a script acts on the world: a step fails the latest batch, a hook hears of it, rules and stubs are in force', async () => {
  const world = await fileWorld({
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
        'batch_prediction.failed': ({ batch, event, world }) =>
          world.log(\`\${batch.id} failed at \${event.at} with \${world.state('files').length} file\`),
      },
    }`),
  })
  expect((await world.start('unlucky')).status).toBe(200)
  expect((await world.post('/pages', { name: 'x' })).status).toBe(429)
  expect((await world.get('/search?query=pier')).body).toEqual({ q: 'pier' })
  const { id } = await createBatch(world)
  const { parked } = await world.pass('1h')
  expect(parked).toEqual([])
  const batch = await retrieve(world, id)
  expect([batch.status, batch.failed_at]).toEqual(['failed', '2026-03-01T12:10:00.000Z'])
  expect(batch.error.detail).toContain('As agreed.')
  expect(world.said.at(-1)).toBe(
    `The scenario unlucky of the sandbox default: ${id} failed at ${batch.failed_at} with 1 file`,
  )
})

test('a function that throws is told of by file and line, in the receipt, the list and the log', async () => {
  const world = await fileWorld({
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
  await world.start('broken')
  const { parked } = await world.pass('1h')
  expect(parked).toHaveLength(1)
  expect(parked[0].error).toBe(`${join(world.scenarios, 'broken.ts')}:7: nothing to fail`)
  const { active } = (await world.control('GET', '/scenarios')).body
  expect(active.last_error.message).toBe(parked[0].error)
  expect(world.said.at(-1)).toContain('broken.ts:7: nothing to fail')
})

test('soon after saving, the next request meets the newer version; a broken one leaves the last in force', async () => {
  const stub = (body: string) => script(`{ stubs: [{ method: 'GET', path: '/search', body: ${body} }] }`)
  const world = await fileWorld({ 'search.ts': stub("'first'") })
  await world.start('search')
  expect((await world.get('/search')).body).toBe('first')
  world.save({ 'search.ts': stub("'second'") })
  await expect.poll(async () => (await world.get('/search')).body, { timeout: 20_000 }).toBe('second')
  world.save({ 'search.ts': stub("'at once'") })
  const { body } = await world.control('POST', '/scenarios')
  expect(body).toMatchObject({ data: [{ name: 'search', valid: true }], active: { name: 'search' } })
  expect((await world.get('/search')).body).toBe('at once')
  world.save({ 'search.ts': stub("'third', status: 'none'") })
  const errorOf = async () => (await world.control('GET', '/scenarios')).body.data[0].error
  await expect.poll(errorOf, { timeout: 2_000 }).toMatch(/search\.ts:\d+.*\/stubs\/0\/status/)
  expect((await world.get('/search')).body).toBe('at once')
})

test('a scenario of a wrong shape is listed with file, line and pointer, and does not start', async () => {
  const world = await fileWorld({
    'wrong.json':
      '{\n  "faults": [\n    { "preset": "rate-limitd" }\n  ],\n  "on": { "batch.complete": 1 }\n}\n',
  })
  const { data } = (await world.control('GET', '/scenarios')).body
  expect(data).toMatchObject([{ name: 'wrong', valid: false, generation: null, active: false }])
  expect(data[0].error).toContain(`${join(world.scenarios, 'wrong.json')}:3:`)
  expect(data[0].error).toContain('Did you mean "batch.completed"?')
  expect((await world.start('wrong')).status).toBe(409)
})
