import { expect, test } from 'vitest'
import { unreadParameters } from '../../src/core/request/unread-query.ts'
import { workspaceService } from '../../src/emulator/service.ts'
import { testEmulator } from '../support/emulator.ts'
import { keptLogger } from '../support/kept-logger.ts'

type Parameter = Readonly<Record<'in' | 'name', string>>

const LIMIT = 'Nothing reads the query parameter "limt" of data-views.list. Did you mean "limit"?'

async function warning() {
  const { said: warned, logger } = keptLogger('warn')
  const emulator = await testEmulator({ logger })
  const explained = async (path: string) => {
    const { headers } = await emulator.get(path)
    const trace = await emulator.control('GET', `/explain/${headers.get('x-emulator-request-id')}`)
    return trace.body.unread_query
  }
  return { emulator, warned, explained }
}

test('a query parameter that nothing reads is named by explain, and once by a warning in the log', async () => {
  const { emulator, warned, explained } = await warning()
  expect((await emulator.get('/data-views?limt=3', { key: 'none' })).status).toBe(401)
  expect(await explained('/data-views?limt=3&offset=1')).toEqual([{ name: 'limt', description: LIMIT }])
  expect(warned).toEqual([LIMIT])
  await emulator.get('/data-views?limt=3&ofset=2')
  await emulator.get('/organization/teamspaces/ts-a/users?limt=1')
  await emulator.post('/pages?dry_run=1', { name: 'Plan' })
  expect(warned.slice(1)).toEqual([
    'Nothing reads the query parameter "ofset" of data-views.list. Did you mean "offset"?',
    'Nothing reads the query parameter "limt" of teamspace-users.list. Did you mean "limit"?',
    'Nothing reads the query parameter "dry_run" of pages.create.',
  ])
})

test.for([
  ['the parameters that an operation reads', '/data-views?limit=3&offset=0'],
  ['no query', '/data-views'],
  ['an empty query', '/data-views?'],
  ['a stub', '/search?q=x'],
  ['a path without an operation', '/nowhere?q=x'],
])('a request with %s has no parameter that could be wrong', async ([, path = '']) => {
  const { emulator, warned, explained } = await warning()
  await emulator.control('POST', '/stubs', { method: 'GET', path: '/search', status: 200, body: {} })
  expect(await explained(path)).toBeUndefined()
  expect(warned).toEqual([])
})

test('at most a hundred parameters of a request are named, and a long name is cut', async () => {
  const { explained } = await warning()
  const many = Array.from({ length: 300 }, (_, n) => `zz${n}=1`).join('&')
  expect(await explained(`/data-views?${many}`)).toHaveLength(100)
  const [{ description }] = await explained(`/data-views?${'x'.repeat(3_000)}=1`)
  expect(description.length).toBeLessThan(1_200)
})

test('the parameters of every operation with a query schema are known', async () => {
  const { control, sandbox } = await testEmulator()
  const { paths } = (await control('GET', '/openapi.json?api=workspace')).body
  const tried: string[] = []
  for (const [path, methods] of Object.entries<Record<string, { parameters?: Parameter[] }>>(paths)) {
    for (const operation of workspaceService.operations.values()) {
      const { parameters = [] } = methods[operation.method.toLowerCase()] ?? {}
      const names = parameters.filter((each) => each.in === 'query').map(({ name }) => name)
      if (operation.path !== path || names.length === 0) continue
      const query = Object.fromEntries(names.map((name) => [name, '1']))
      expect([path, unreadParameters(operation, sandbox.settings, query)]).toEqual([path, []])
      tried.push(...names)
    }
  }
  expect(tried.length).toBeGreaterThan(8)
})
