import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { command } from '../cli/in-process.ts'
import { testEmulator } from '../support/emulator.ts'
import { folderWith, put } from '../support/endpoint-folder.ts'

const NOTES =
  "export default { method: 'GET', path: '/notes', response: { body: { object: 'list', data: [] } } }"

const scenario = (operation: string) => ({
  faults: [{ id: 'down', match: { operation }, do: [{ respond: { status: 503 } }] }],
  timeline: [{ at: '1h', do: [{ arm: { match: { operation }, do: [{ respond: { status: 500 } }] } }] }],
})

function project(operation: string, hasEndpoints = true) {
  const folder = folderWith({
    'scenarios/down.json': JSON.stringify(scenario(operation)),
    ...(hasEndpoints && { 'endpoints/notes.js': NOTES }),
  })
  return { scenarios: join(folder, 'scenarios'), endpoints: join(folder, 'endpoints') }
}

async function opened(operation: string, hasEndpoints = true) {
  const folders = project(operation, hasEndpoints)
  const emulator = await testEmulator({ ...folders, scenarioSource: undefined as never })
  const { data } = (await emulator.control('GET', '/scenarios')).body
  const found = data.find(({ name }: { name: string }) => name === 'down')
  return { emulator, error: found.error as string | null, ...folders }
}

test('a scenario can have rules about operations of the user', async () => {
  const { emulator, error } = await opened('notes.list')
  expect(error).toBe(null)
  expect((await emulator.control('POST', '/scenarios/down/start')).status).toBe(200)
  expect((await emulator.get('/notes')).status).toBe(503)
  await emulator.control('DELETE', '/faults/down')
  await emulator.control('POST', '/clock/advance', { by: '1h' })
  expect((await emulator.get('/notes')).status).toBe(500)
})

test('a name that no operation has now is kept and marked, and applies once there is one', async () => {
  const { emulator, error, endpoints } = await opened('orders.list')
  expect(error).toBe(null)
  await emulator.control('POST', '/scenarios/down/start')
  const note = 'no operation of this name at present'
  expect((await emulator.control('GET', '/faults')).body.data).toMatchObject([{ id: 'down', note }])
  put(endpoints, { 'orders.js': NOTES.replace('/notes', '/orders') })
  await emulator.control('GET', '/endpoints')
  expect((await emulator.control('GET', '/faults')).body.data[0]).not.toHaveProperty('note')
  expect((await emulator.get('/orders')).status).toBe(503)
})

test('a name that is nearly a contracted one is refused, and any unknown one without endpoints', async () => {
  expect((await opened('pages.creat')).error).toMatch(
    /"pages\.creat" is no operation\. Did you mean "pages\.create"\?/,
  )
  expect((await opened('notes.list', false)).error).toMatch(/"notes\.list" is no operation/)
})

test('validate takes the names of the endpoints of the project', async () => {
  const check = ({ scenarios, endpoints }: ReturnType<typeof project>) =>
    command(['validate', '--scenarios', scenarios, '--endpoints', endpoints, '--fixtures', 'empty'])
  expect(await check(project('notes.list'))).toMatchObject({ code: 0 })
  const near = await check(project('pages.creat'))
  expect(near.code).toBe(1)
  expect(near.out + near.err).toContain('Did you mean "pages.create"?')
  const broken = project('notes.list')
  put(broken.endpoints, { 'broken.js': 'export default { method: 1 }' })
  const { code, out, err } = await check(broken)
  expect([code, out + err]).toEqual([1, expect.stringMatching(/broken\.js.*\/method/)])
  expect(out + err).not.toContain('is no operation')
})

test('rules and limits keep the name of an operation that is gone, also over a restart; no new rule may have it', async () => {
  const endpoints = folderWith({ 'notes.js': NOTES })
  const emulator = await testEmulator({ endpoints })
  const rule = { match: { operation: 'notes.list' }, do: [{ respond: { status: 503 } }] }
  await emulator.control('PUT', '/limits/notes.list', { limit: 3 })
  await emulator.control('POST', '/faults', rule)
  rmSync(join(endpoints, 'notes.js'))
  const next = await emulator.restart()
  const marked = { note: 'no operation of this name at present' }
  expect((await next.control('GET', '/faults')).body.data).toMatchObject([marked])
  expect((await next.control('GET', '/limits')).body.overrides).toMatchObject([marked])
  const { status, body } = await next.control('POST', '/faults', rule)
  expect([status, body.message]).toEqual([400, expect.stringContaining('"notes.list" is no operation')])
})
