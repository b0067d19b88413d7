import { expect, test } from 'vitest'
import { unreadParameters } from '../../src/core/request/unread-query.ts'
import { workspaceService } from '../../src/emulator/service.ts'
import { testEmulator } from '../support/emulator.ts'

const LIMIT = 'Nothing reads the query parameter "limt" of data-views.list. Did you mean "limit"?'

async function warning() {
  const warned: string[] = []
  const logger = { info: () => {}, error: () => {}, warn: (text: string) => warned.push(text) }
  const emulator = await testEmulator({ logger })
  const explained = async (path: string) => {
    const { headers } = await emulator.get(path)
    const trace = await emulator.control('GET', `/explain/${headers.get('x-emulator-request-id')}`)
    return trace.body.unread_query
  }
  return { emulator, warned, explained }
}

test('a query parameter that nothing reads is named by explain, with the nearest known one', async () => {
  const { explained } = await warning()
  expect(await explained('/data-views?limt=3&offset=1')).toEqual([{ name: 'limt', description: LIMIT }])
})

test('it is named once by a warning in the log, also when it is sent again', async () => {
  const { emulator, warned } = await warning()
  for (let n = 0; n < 3; n++) await emulator.get('/data-views?limt=3')
  expect(warned).toEqual([LIMIT])
  await emulator.get('/data-views?limt=3&ofset=2')
  await emulator.get('/organization/teamspaces/ts-a/users?limt=1')
  expect(warned.slice(1)).toEqual([
    'Nothing reads the query parameter "ofset" of data-views.list. Did you mean "offset"?',
    'Nothing reads the query parameter "limt" of teamspace-users.list. Did you mean "limit"?',
  ])
})

test('parameters that an operation reads are not named, and neither are requests without a query', async () => {
  const { warned, explained } = await warning()
  for (const path of ['/data-views?limit=3&offset=0', '/data-views', '/data-views?'])
    expect([path, await explained(path)]).toEqual([path, undefined])
  expect(warned).toEqual([])
})

test('an operation without parameters reads none', async () => {
  const { emulator, warned } = await warning()
  await emulator.post('/pages?dry_run=1', { name: 'Plan' })
  expect(warned).toEqual(['Nothing reads the query parameter "dry_run" of pages.create.'])
})

test('a path without an operation, and a stub, have no parameters that could be wrong', async () => {
  const { emulator, warned, explained } = await warning()
  const stub = { method: 'GET', path: '/search', status: 200, body: {} }
  expect((await emulator.control('POST', '/stubs', stub)).status).toBeLessThan(300)
  expect(await explained('/search?q=x')).toBeUndefined()
  expect(await explained('/nowhere?q=x')).toBeUndefined()
  expect(warned).toEqual([])
})

test('a refused request is warned about, too', async () => {
  const { emulator, warned } = await warning()
  expect((await emulator.get('/data-views?limt=3', { key: 'none' })).status).toBe(401)
  expect(warned).toEqual([LIMIT])
})

test('at most a hundred parameters of a request are named, and a long name is cut', async () => {
  const { explained } = await warning()
  const many = Array.from({ length: 300 }, (_, n) => `zz${n}=1`).join('&')
  expect(await explained(`/data-views?${many}`)).toHaveLength(100)
  const [{ description }] = await explained(`/data-views?${'x'.repeat(3_000)}=1`)
  expect(description.length).toBeLessThan(1_200)
})

test('the parameters of every operation with a query schema are known', async () => {
  const { sandbox } = await testEmulator()
  const documented = (
    (await (await testEmulator()).control('GET', '/openapi.json?api=workspace')).body as {
      paths: Record<
        string,
        Record<string, { operationId: string; parameters?: { in: string; name: string }[] }>
      >
    }
  ).paths
  const operations = Object.values(documented).flatMap((methods) => Object.values(methods))
  const tried = operations.flatMap(({ operationId, parameters = [] }) => {
    const operation = workspaceService.operations.get(operationId)
    const names = parameters.filter((each) => each.in === 'query').map(({ name }) => name)
    if (operation === undefined || names.length === 0) return []
    const query = Object.fromEntries(names.map((name) => [name, '1']))
    expect([operationId, unreadParameters(operation, sandbox.settings, query)]).toEqual([operationId, []])
    return names
  })
  expect(tried.length).toBeGreaterThan(8)
})
