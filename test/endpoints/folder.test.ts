import { join } from 'node:path'
import { expect, test } from 'vitest'
import { testEmulator } from '../support/emulator.ts'
import { folderWith, put } from '../support/endpoint-folder.ts'

const HELLO = (text: string) => `import { defineEndpoint } from 'agent-workspace-emulator'
import { greeting } from './lib/greeting'

export default defineEndpoint({ method: 'GET', path: '/hello', handle: () => ({ body: { text: greeting('${text}') } }) })
`
const GET_X = "export default { method: 'GET', path: '/x', response: {} }"
const GREETING = (mark: string) => `export const greeting = (text: string) => text + '${mark}'\n`

test('files of a folder respond, and changed files and helpers are loaded again together', async () => {
  const folder = folderWith({ 'hello.ts': HELLO('a'), 'lib/greeting.ts': GREETING('!') })
  const emulator = await testEmulator({ endpoints: folder })
  expect((await emulator.get('/hello')).body).toEqual({ text: 'a!' })
  put(folder, { 'lib/greeting.ts': GREETING('?'), 'other.ts': HELLO('b').replace('/hello', '/other') })
  const listed = await emulator.control('GET', '/endpoints')
  expect(listed.body.problems).toEqual([])
  expect((await emulator.get('/hello')).body).toEqual({ text: 'a?' })
  expect((await emulator.get('/other')).body).toEqual({ text: 'b?' })
  expect(listed.body.data).toMatchObject([
    { name: 'hello.list', kind: 'function', place: expect.stringMatching(/hello\.ts:4$/), body: 'none' },
    { name: 'other.list' },
  ])
})

test('a folder that is created after the start is listed and followed', async () => {
  const folder = join(folderWith({}), 'later')
  const emulator = await testEmulator({ endpoints: folder })
  expect((await emulator.get('/x')).status).toBe(404)
  put(folder, { 'x.js': GET_X })
  expect((await emulator.control('GET', '/endpoints')).body.data).toMatchObject([{ name: 'x.list' }])
  put(folder, { 'x.js': GET_X.replace('/x', '/hello') })
  const status = async () => (await emulator.get('/hello')).status
  await expect.poll(status).toBe(200)
})

test('a start with a broken file is refused with file and line', async () => {
  const folder = folderWith({ 'hello.ts': 'export default {{' })
  await expect(testEmulator({ endpoints: folder })).rejects.toThrow(/hello\.ts:1/)
})

test('where the files are followed, a start goes on, and unknown paths name the broken file', async () => {
  const folder = folderWith({
    'hello.ts': 'export default {{',
    'good.ts': HELLO('a').replace('/hello', '/good'),
    'lib/greeting.ts': GREETING('!'),
  })
  const emulator = await testEmulator({ endpoints: folder, followEndpoints: true })
  expect((await emulator.get('/good')).status).toBe(200)
  const { status, body } = await emulator.get('/hello')
  expect([status, body.message]).toEqual([501, expect.stringMatching(/hello\.ts:1/)])
  const named = await emulator.post('/converse', {})
  expect([named.status, named.body.message]).toEqual([501, expect.stringMatching(/hello\.ts:1/)])
  put(folder, { 'hello.ts': HELLO('now') })
  await emulator.control('GET', '/endpoints')
  expect((await emulator.get('/hello')).body).toEqual({ text: 'now!' })
  expect((await emulator.get('/unknown')).status).toBe(404)
})

test('of several broken files, unknown paths name the first, and say how many there are and what lists them', async () => {
  const wrong = { 'a.js': 'export default {{', 'b.js': 'export default [{}, {}]', 'c.js': ' ' }
  const emulator = await testEmulator({ endpoints: folderWith(wrong), followEndpoints: true })
  const { status, body } = await emulator.get('/unknown')
  expect(status).toBe(501)
  expect(body.message).toMatch(
    /^There is no such operation, but 3 files of endpoints are broken; first: .*a\.js:1:/,
  )
  expect(body.mitigation).toContain('"workspace-emulator endpoints" lists the problems of all files.')
})

test('a limit in the settings may be for an operation that is gone, and not for a misspelt one', async () => {
  const settings = (operation: string) => ({ 'limits.overrides': [{ operation, limit: 2 }] })
  const own = await testEmulator({ endpoints: folderWith({ 'x.js': GET_X }) })
  expect((await own.control('PATCH', '/settings', settings('gone.list'))).status).toBe(200)
  const near = await own.control('PATCH', '/settings', settings('pages.creat'))
  expect([near.status, near.body.details.errors[0].pointer]).toEqual([400, '/limits.overrides/0/operation'])
  const without = await testEmulator()
  expect((await without.control('PATCH', '/settings', settings('gone.list'))).status).toBe(400)
  expect((await without.control('PATCH', '/settings', settings('pages.create'))).status).toBe(200)
})

test('what breaks a replay is named', async () => {
  const text = `let count = 0\nexport default { method: 'GET', path: '/x', handle: () => ({ body: { at: Date.now(), r: Math.random(), n: count++ } }) }\n`
  const emulator = await testEmulator({ endpoints: folderWith({ 'x.js': text }) })
  const { warnings } = (await emulator.control('GET', '/endpoints')).body
  expect(warnings.join('\n')).toMatch(
    /x\.js:2:.*Date\.now[\s\S]*x\.js:2:.*Math\.random[\s\S]*x\.js:1:1.*variable of the module/,
  )
})
