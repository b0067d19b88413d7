import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { workspaceService } from '../../src/emulator/service.ts'
import { controlRoutes } from '../../src/server/control/routes/index.ts'
import { serving } from '../support/http-server.ts'
import { fakeControl } from './fake-control.ts'
import { command, lastingCommand, temporaryDirectory, temporaryFile, withError } from './in-process.ts'
import { cells, createBatch, running } from './running.ts'

async function withBatch() {
  const started = await running({ fixtures: 'demo' })
  return { ...started, id: await createBatch(started, 'a', 'b') }
}

test('a batch can be held, released, and ended', async () => {
  const { run, id } = await withBatch()
  expect((await run('batch', 'hold', id)).out).toContain(`${id}: validating, held, 0 of 2 items finished`)
  expect((await run('batch', 'release', id)).out).toContain(`${id}: validating, 0 of 2 items finished`)
  expect((await run('batch', 'list')).out).toContain(`${id}  validating`)
  // A slow machine needs a second page for the other result.
  expect((await run('batch', 'results', id)).out).toMatch(
    /^CUSTOM ID .*\na .*\n(?:b |There are more: workspace-emulator call GET "batches\/\w+\/results\?offset=1"$)/,
  )
  await run('call', 'PATCH', `batches/${id}`, '{"pace": {"validating": "1h"}}')
  expect((await run('batch', 'show', id)).out).toContain('validating "1h"')
  expect((await run('batch', 'fail', id, 'The model is overloaded.')).out).toContain(`${id}: failed`)
  expect((await run('batch', 'expire', id)).err).toContain('failed')
})

test('records can be listed, shown, written and deleted', async () => {
  const { run, data } = await running({ fixtures: 'demo' })
  expect((await run('state')).out).toMatch(/^NAME +RECORDS\n/)
  expect((await run('state', 'list', 'teamspaces')).out).toMatch(/^ID .*\nteamspace-harbor /)
  const page = await data('state', 'get', 'pages', 'page-handbook')
  const file = temporaryFile('page.json', JSON.stringify({ ...page, id: 'copy', name: 'Copy' }))
  expect((await run('state', 'put', 'pages', 'copy', file)).out).toContain('"name": "Copy"')
  expect((await run('state', 'delete', 'pages', 'copy')).out).toBe('pages/copy deleted.')
})

test('a refused body is reported with the line of its file, or with the position in the argument', async () => {
  const { run } = await running({ fixtures: 'demo' })
  const file = temporaryFile('page.json', '{\n  "id": "x",\n  "name": 7\n}')
  const refused = async (...argv: string[]) => (await run(...argv)).err
  const place = `is refused:\n  ${file}:3: /name: `
  expect(await refused('state', 'put', 'pages', 'x', file)).toContain(`The document ${place}`)
  expect(await refused('call', 'PUT', 'state/pages/x', file)).toContain(`The body ${place}`)
  expect(await refused('state', 'patch', 'pages', 'page-handbook', '{"name"')).toMatch(
    /^<patch>: is not JSON: .* at character 8\. Put it in single quotes, or give the path of a file\.$/,
  )
  expect(await refused('webhook', 'trigger', 'batch_prediction.completed', '--data', '{"a": }')).toMatch(
    /^--data: is not JSON: .* Put it in single quotes\.$/,
  )
})

test.for([
  ['state get pages x', 'There is no page with the id "x". "workspace-emulator state list pages" lists'],
  ['snapshot restore x', '"workspace-emulator snapshot list" lists them; "workspace-emulator snapshot save'],
  ['settings set nope 1', '/nope: There is no setting "nope". "workspace-emulator settings get" lists every'],
  ['settings get status.conflct', 'Did you mean "status.conflict"? "workspace-emulator settings" lists'],
  // The value is not a part of the path.
  ['settings set batch.unknown_files ..', 'must be one of'],
  ['limits clear data-views', 'Did you mean "data-views.list"? "workspace-emulator call GET /operations"'],
  ['requests --status 4x', '--status: must be a status such as 429, or a class such as 4xx'],
  ['call GET /requests?limit=x', 'One field is not valid: /query/limit: must be an integer'],
] as const)('the refusal of "%s" names commands and flags', async ([line, message]) => {
  const { run } = await running({ fixtures: 'demo' })
  expect(await run(...line.split(' '))).toEqual(withError(1, message))
})

test('rate windows can be filled and emptied, and limits set', async () => {
  const { run } = await running({ fixtures: 'demo' })
  await run('limits', 'fill', 'data-views.list', '--teamspace', 'teamspace-harbor')
  await run('limits', 'set', 'data-views.list', '5', '--window', '10s')
  expect((await run('limits')).out).toMatch(
    /^OPERATION .*\ndata-views\.list +teamspace-harbor .*\ndata-views\.list: 5 requests in 10 s$/,
  )
  const clear = async () => (await run('limits', 'clear', 'data-views.list')).out
  expect(await clear()).toBe('Emptied: teamspace-harbor data-views.list.')
  expect(await clear()).toBe('No window held a request.')
})

test('settings can be shown, changed and restored', async () => {
  const { run } = await running()
  const set = async (value: string) => (await run('settings', 'set', 'batch.unknown_files', value)).out
  expect(await set('accept')).toBe('batch.unknown_files = "accept"')
  expect((await run('settings')).out).toMatch(/^batch\.unknown_files +"accept" +changed$/m)
  expect((await run('settings', 'get', 'batch.unknown_files')).out).toBe('"accept"')
  expect(await set('null')).toBe('batch.unknown_files = "fail"')
  const [head, ...rows] = cells((await run('assumptions')).out)
  expect(head).toBe('ID | USED | DECISION | SETTINGS')
  expect(rows).toContainEqual(expect.stringMatching(/^U039 \| 0 \| .* \| batch\.unknown_files$/))
})

test('call makes any call, and its result decides the exit code', async () => {
  const { run, data } = await running({ fixtures: 'demo' })
  const stub = '{"method": "GET", "path": "/search", "body": {"data": []}}'
  expect((await run('call', 'post', '/stubs', stub)).out).toContain('"path": "/search"')
  expect((await data('call', 'GET', 'openapi.json?api=workspace')).info.title).toBe('Agent Workspace Service')
  expect(await run('call', 'DELETE', 'requests')).toEqual({ code: 0, out: 'Done.', err: '' })
  expect((await run('call', 'DELETE', 'requests', '--json')).out).toBe('{}')
  expect((await run('call', 'POST', 'requests/verify', '{"match": {"method": "PUT"}}')).code).toBe(1)
  const { code, err } = await run('call', 'GET', 'events')
  expect([code, err]).toEqual([2, '/events never ends. "workspace-emulator events --follow" prints it.'])
})

test.for(['null', '5', 'true', '"x"'])('call says of the body %s what can be given', async (body) => {
  expect(await command(['call', 'POST', '/reset', body])).toEqual({
    code: 2,
    out: '',
    err: `<json>: ${body} is not a JSON object. Give one in single quotes, - for JSON on standard input, or the path of a JSON file.`,
  })
})

test('call without arguments lists every call, also without an emulator', async () => {
  const { code, out } = await command(['call', '--url', 'http://127.0.0.1:2'])
  expect(code).toBe(0)
  for (const { method, path } of controlRoutes(workspaceService))
    expect(out).toMatch(new RegExp(`^${method} +${path.replaceAll(/[{}.]/g, '\\$&')} `, 'm'))
})

test('requests can be verified: a failure has exit code 1 and lists the nearest requests', async () => {
  const { run } = await withBatch()
  const passed = await run('requests', 'verify', '{"method": "POST"}', '--exactly', '1')
  expect(passed.out).toBe('Passed: 1 came, wanted exactly 1.')
  const { code, out } = await run('requests', 'verify', '{"method": "POST", "path": "/v1/pages"}')
  expect(code).toBe(1)
  expect(out).toMatch(/^Not passed: 0 came, wanted at least 1\.\n {2}default-000001 {2}200 {2}POST/)
  expect((await run('requests', 'wait', '{"method": "PUT"}', '--timeout', '1ms')).code).toBe(1)
})

test('requests can be shown with their bodies', async () => {
  const { run } = await withBatch()
  const [line, sent, about, received] = (await run('requests', '--full')).out.split('\n')
  expect(line).toMatch(/ {2}200 {2}POST \/v1\/batch-predictions {2}[\d.]+ ms {2}default-000001$/)
  expect(sent).toMatch(/^ {2}> \{"prompt":"Read vendor/)
  expect(about).toContain('application/json')
  expect(received).toMatch(/^ {2}< \{"object":/)
})

test('requests can be exported as HAR, with whole addresses and every parameter of the query', async () => {
  const { run, url, api } = await withBatch()
  await api('/data-views?limit=2&limit=3')
  const file = join(temporaryDirectory(), 'requests.har')
  expect((await run('requests', 'export', '--har', file)).out).toBe(`2 requests written to ${file}.`)
  const { entries } = JSON.parse(readFileSync(file, 'utf8')).log
  expect(entries[1].request).toMatchObject({
    url: `${url}/v1/data-views?limit=2&limit=3`,
    queryString: ['2', '3'].map((value) => ({ name: 'limit', value })),
  })
})

test('webhook subscriptions can be listed and removed', async () => {
  const { run } = await withBatch()
  await run('webhook', 'add')
  expect((await run('webhook', 'list')).out).toMatch(/^ID +URL +EVENTS +HAS SECRET +CREATED AT\n\S/)
  expect((await run('webhook', 'trigger', 'batch_prediction.completed')).out).toMatch(
    /^ID +CREATED AT +TYPE +STATUS +ATTEMPTS +URL\n\S+ .* batch_prediction\.completed +pending +0 /,
  )
  await run('webhook', 'remove')
  expect((await run('webhook', 'trigger', 'batch_prediction.completed')).out).toBe(
    'No subscription wants batch_prediction.completed: "workspace-emulator webhook add" adds one.',
  )
})

test('webhook listen subscribes a receiver, prints deliveries, and removes the subscription', async () => {
  const { run, data, emulator, id, url } = await withBatch()
  const received: string[] = []
  const { port } = await serving((req, res) => {
    received.push(String(req.headers['x-emulator-event']))
    res.end()
  })
  const hook = `http://127.0.0.1:${port}/hook`
  const listening = lastingCommand(['webhook', 'listen', '--forward-to', hook, '--url', url])
  await listening.hasSaid(`Listening: ${hook} is subscribed. Ctrl-C ends it.`)
  await run('batch', 'complete', id)
  const line = /batch_prediction\.completed about batch_predictions\/\S+, attempt 1: HTTP 200/
  expect(await listening.next()).toMatch(line)
  const [delivery] = (await data('webhook', 'deliveries')).data
  expect((await data('webhook', 'redeliver', delivery.id)).status).toBe('pending')
  await expect.poll(() => received).toEqual(['batch_prediction.completed', 'batch_prediction.completed'])
  listening.signal('SIGINT')
  expect((await listening.ended).code).toBe(0)
  expect(emulator.sandbox.store.rows('webhooks').size).toBe(0)
})

test.for([
  '/clock',
  'clock',
  '/__emulator/clock',
  'C:/Program Files/Git/clock',
  'C:/Program Files/Git/__emulator/clock',
  'c:/msys64/clock',
  'D:/tools/git/clock',
])('call GET %s reads the clock, also as Git Bash on Windows rewrites the path', async (path) => {
  const { url, asked } = await fakeControl({})
  await command(['call', 'GET', path, '--url', url])
  expect(asked).toMatchObject([{ method: 'GET', path: '/__emulator/clock' }])
})
