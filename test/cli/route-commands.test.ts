import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { workspaceService } from '../../src/emulator/service.ts'
import { controlRoutes } from '../../src/server/control/routes/index.ts'
import { serving } from '../support/http-server.ts'
import { fakeControl } from './fake-control.ts'
import { command, lastingCommand, temporaryDirectory, temporaryFile } from './in-process.ts'
import { createBatch, running, START } from './running.ts'

const headers = { authorization: 'Bearer live_demo_owner', 'content-type': 'application/json' }

/** An emulator with the demo data and a batch of two items. */
async function withBatch() {
  const started = await running({ fixtures: 'demo' })
  return { ...started, id: await createBatch(started.emulator.baseUrl, 'a', 'b') }
}

test('the clock can be frozen, started, and accelerated', async () => {
  const { run } = await running()
  expect((await run('clock', 'rate', '60')).out).toBe(`${START}, rate 60\nnext: nothing is due`)
  expect((await run('clock', 'rate', '0')).out).toMatch(/, frozen\n/)
  expect((await run('clock', 'rate', '1')).out).toMatch(/, rate 1\n/)
})

test('a batch can be held, released, and ended in each way', async () => {
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
  expect((await run('batch', 'cleanup', id)).code).toBe(0)
  expect((await run('batch', 'expire', id)).err).toContain('failed')
})

test('records can be listed, shown, written, changed and deleted', async () => {
  const { run, data } = await running({ fixtures: 'demo' })
  expect((await run('state')).out).toMatch(/^NAME +RECORDS\n/)
  expect((await run('state', 'list', 'teamspaces')).out).toMatch(/^ID .*\nteamspace-harbor /)
  const page = await data('state', 'get', 'pages', 'page-handbook')
  const file = temporaryFile('page.json', JSON.stringify({ ...page, id: 'copy', name: 'Copy' }))
  expect((await run('state', 'put', 'pages', 'copy', file)).out).toContain('"name": "Copy"')
  await run('state', 'patch', 'pages', 'copy', '{"name": "Third"}')
  expect((await data('state', 'get', 'pages', 'copy')).name).toBe('Third')
  expect((await run('state', 'delete', 'pages', 'copy')).out).toBe('pages/copy deleted.')
  expect((await run('state', 'get', 'pages', 'copy')).code).toBe(1)
})

test('a refused record is reported with the line of its file, or with the position in the argument', async () => {
  const { run } = await running({ fixtures: 'demo' })
  const file = temporaryFile('page.json', '{\n  "id": "x",\n  "name": 7\n}')
  expect((await run('state', 'put', 'pages', 'x', file)).err).toContain('page.json:3: /name: ')
  expect(await run('state', 'patch', 'pages', 'page-handbook', '{"name"')).toEqual({
    code: 2,
    out: '',
    err: expect.stringMatching(/^<patch>: is not JSON: .* at character 8\. Put it in single quotes/),
  })
  expect(await run('webhook', 'trigger', 'batch_prediction.completed', '--data', '{"a": }')).toMatchObject({
    code: 2,
    err: expect.stringMatching(/^--data: is not JSON: .* Put it in single quotes\.$/),
  })
})

test.for([
  [
    'state get pages x',
    'There is no page with the id "x". "workspace-emulator state list pages" lists every page.',
  ],
  [
    'snapshot restore x',
    'The sandbox "default" has no snapshot "x". "workspace-emulator snapshot list" lists them; "workspace-emulator snapshot save NAME" saves one.',
  ],
  [
    'call POST teamspaces/x/join {"user_id":"user-mara"}',
    'There is no teamspace with the id "x". "workspace-emulator state list teamspaces" lists every teamspace.',
  ],
  [
    'call POST teamspaces/teamspace-harbor/join {"user_id":"x"}',
    'One field is not valid: /user_id: the organization of the teamspace has no user "x". "workspace-emulator state list users" lists every user',
  ],
  [
    'settings set nope 1',
    'One field is not valid: /nope: There is no setting "nope". "workspace-emulator settings get" lists every setting.',
  ],
  ['requests --status 4x', '--status: must be a status such as 429, or a class such as 4xx'],
  [
    'settings set lists.default_limit many',
    'One field is not valid: /lists.default_limit: must be of the type number, not string. Sets the number of records of a page when the request has no limit.',
  ],
] as const)('the refusal of "%s" names commands and flags', async ([line, err]) => {
  const { run } = await running({ fixtures: 'demo' })
  expect(await run(...line.split(' '))).toEqual({ code: 1, out: '', err })
})

test('a refusal whose way out needs a body names the call', async () => {
  const { run } = await running({ fixtures: 'demo', clock: '2030-01-01T00:00:00Z' })
  expect((await run('clock', 'advance', '--to', '2020-01-01')).err).toContain(
    'A reset with {"clock": "INSTANT"} starts the sandbox again',
  )
})

test('the whole state can be exported to a file and loaded again, and fixtures can be merged', async () => {
  const { run, data } = await running({ fixtures: 'demo' })
  const file = join(temporaryDirectory(), 'state.json')
  expect((await run('state', 'export', file)).out).toBe(`State written to ${file}.`)
  await run('state', 'delete', 'pages', 'page-handbook')
  expect((await run('state', 'import', file)).code).toBe(0)
  expect((await data('state', 'get', 'pages', 'page-handbook')).id).toBe('page-handbook')
  const fixtures = '{"collections": {"organizations": [{"id": "o2", "name": "Other"}]}}'
  expect((await data('call', 'POST', 'fixtures', fixtures)).written).toEqual({ organizations: 1 })
})

test('rate windows can be filled and emptied, and limits set', async () => {
  const { run, data, emulator } = await running({ fixtures: 'demo' })
  const status = async () => (await fetch(`${emulator.baseUrl}/data-views`, { headers })).status
  await run('limits', 'fill', 'data-views.list')
  expect(await status()).toBe(429)
  await run('limits', 'set', 'data-views.list', '5', '--window', '10s')
  expect((await run('limits')).out).toContain('data-views.list: 5 requests in 10 s')
  expect((await run('limits', 'clear', 'data-views.list')).out).toBe(
    'Emptied: teamspace-harbor data-views.list, teamspace-depot data-views.list.',
  )
  expect(await status()).toBe(200)
  expect((await data('limits', 'clear')).removed).toEqual(['teamspace-harbor data-views.list'])
  expect((await run('limits', 'clear')).out).toBe('No window held a request.')
  expect((await run('limits', 'clear', 'data-views')).err).toContain(
    'Did you mean "data-views.list"? "workspace-emulator call GET /operations"',
  )
})

test('settings can be shown, changed and restored', async () => {
  const { run } = await running()
  expect((await run('settings', 'set', 'batch.unknown_files', 'accept')).out).toBe(
    'batch.unknown_files = "accept"',
  )
  expect((await run('settings')).out).toMatch(/^batch\.unknown_files +"accept" +changed$/m)
  // The value is not a part of the path.
  expect((await run('settings', 'set', 'batch.unknown_files', '..')).err).toContain('must be one of')
  expect((await run('settings', 'set', 'status.conflict', '410')).out).toBe('status.conflict = 410')
  expect((await run('settings', 'set', 'batch.unknown_files', 'null')).out).toBe(
    'batch.unknown_files = "fail"',
  )
  expect(await run('settings', 'get', 'status.conflct')).toEqual({
    code: 1,
    out: '',
    err: 'There is no setting "status.conflct". Did you mean "status.conflict"? "workspace-emulator settings" lists them.',
  })
})

test('call makes any call: with a query, a body, a file, and what the emulator refuses', async () => {
  const { run, data } = await running({ fixtures: 'demo' })
  const stub = '{"method": "GET", "path": "/search", "body": {"data": []}}'
  expect((await run('call', 'post', '/stubs', stub)).out).toContain('"path": "/search"')
  expect((await data('call', 'GET', '__emulator/stubs')).data).toHaveLength(1)
  expect((await data('call', 'GET', 'openapi.json?api=workspace')).info.title).toBe('Agent Workspace Service')
  expect(await run('call', 'DELETE', 'requests')).toEqual({ code: 0, out: 'Done.', err: '' })
  expect((await run('call', 'GET', '/stub')).err).toContain('Did you mean')
  const file = temporaryFile('stub.json', '{\n  "method": "GET",\n  "path": 7\n}')
  expect((await run('call', 'POST', 'stubs', file)).err).toContain('stub.json:3: /path: ')
  const { code, err } = await run('call', 'GET', 'events')
  expect([code, err]).toEqual([2, '/events never ends. "workspace-emulator events --follow" prints it.'])
  expect((await run('call', 'POST', 'requests/verify', '{"match": {"method": "PUT"}}')).code).toBe(1)
})

test('call names a parameter of the query as the control interface does, since it has no such flag', async () => {
  const { run } = await running()
  expect((await run('call', 'GET', '/requests?limit=x')).err).toMatch(
    /^One field is not valid: \/query\/limit: must be an integer/,
  )
  expect((await run('call', 'GET', '/requests?bogus=1&json=1')).err).toMatch(
    /\/query\/bogus: is not a known field.*\n {2}\/query\/json: is not a known field/s,
  )
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
  expect((await run('requests', 'verify', '{"method": "POST"}', '--exactly', '1')).out).toBe(
    'Passed: 1 came, wanted exactly 1.',
  )
  const { code, out } = await run('requests', 'verify', '{"method": "POST", "path": "/v1/pages"}')
  expect([code, out]).toEqual([
    1,
    expect.stringMatching(/^Not passed: 0 came, wanted at least 1\.\n {2}default-000001 {2}200 {2}POST/),
  ])
  expect((await run('requests', 'wait', '{"method": "PUT"}', '--timeout', '1ms')).code).toBe(1)
})

test('requests can be shown with their bodies', async () => {
  const { run } = await withBatch()
  const [line, sent, about, received] = (await run('requests', '--full')).out.split('\n')
  expect(line).toMatch(/ {2}200 {2}POST \/v1\/batch-predictions {2}[\d.]+ ms {2}default-000001$/)
  expect(sent).toMatch(/^ {2}> \{"prompt":"Read vendor/)
  expect([about, received]).toEqual([
    expect.stringContaining('application/json'),
    expect.stringMatching(/^ {2}< \{"object":/),
  ])
})

test('requests can be exported as HAR without keys and secrets', async () => {
  const { run, emulator, url } = await withBatch()
  await fetch(`${emulator.baseUrl}/data-views?limit=2&limit=3`, { headers })
  const file = join(temporaryDirectory(), 'requests.har')
  expect((await run('requests', 'export', '--har', file)).out).toBe(`2 requests written to ${file}.`)
  const text = readFileSync(file, 'utf8')
  expect(text).not.toContain('live_demo_owner')
  const { version, creator, entries } = JSON.parse(text).log
  expect([version, creator.name]).toEqual(['1.2', 'agent-workspace-emulator'])
  expect(entries[0]).toMatchObject({
    startedDateTime: START,
    time: expect.any(Number),
    request: {
      method: 'POST',
      url: `${url}/v1/batch-predictions`,
      postData: { mimeType: 'application/json' },
    },
    response: { status: 200, statusText: 'OK', content: { mimeType: 'application/json; charset=utf-8' } },
    _id: 'default-000001',
  })
  expect(entries[1].request).toMatchObject({
    url: `${url}/v1/data-views?limit=2&limit=3`,
    queryString: [
      { name: 'limit', value: '2' },
      { name: 'limit', value: '3' },
    ],
    bodySize: 0,
  })
  expect((await run('requests', 'export', '--status', '404', '--json')).out).toContain('"entries":[]')
})

test('--json prints an empty object for a response without a body', async () => {
  const { url } = await fakeControl({})
  expect((await command(['call', 'DELETE', 'requests', '--json', '--url', url])).out).toBe('{}')
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
  expect(await listening.next()).toMatch(
    /batch_prediction\.completed about batch_predictions\/\S+, attempt 1: HTTP 200/,
  )
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
  'C:\\Program Files\\Git\\__emulator\\clock'.replaceAll('\\', '/'),
  'c:/msys64/clock',
  'D:/tools/git/clock',
])('call GET %s reads the clock, also as Git Bash on Windows rewrites the path', async (path) => {
  const { data } = await running()
  expect((await data('call', 'GET', path)).now).toBe(START)
})
