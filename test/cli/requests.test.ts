import { expect, test } from 'vitest'
import type { RequestTrace } from '../../src/core/explain/trace.ts'
import { STEPS } from '../../src/core/request/steps.ts'
import { fakeControl } from './fake-control.ts'
import { command } from './in-process.ts'
import { running, START } from './running.ts'

/** An emulator with three logged requests: a page, a page without a name, and an unknown path. */
async function someRequests() {
  const emulator = await running({ fixtures: 'demo' })
  const { baseUrl } = emulator.emulator
  const headers = { authorization: 'Bearer live_demo_owner', 'content-type': 'application/json' }
  await fetch(`${baseUrl}/pages`, { method: 'POST', headers, body: '{"name": "Plan"}' })
  await fetch(`${baseUrl}/pages`, { method: 'POST', headers, body: '{"name": 7}' })
  await fetch(`${baseUrl}/data-views/x`, { headers })
  return emulator
}

test('requests are listed in columns, one per line', async () => {
  const { run } = await someRequests()
  expect((await run('requests')).out.split('\n')).toEqual([
    'ID              AT                        STATUS  REQUEST               OPERATION     ERROR',
    `default-000001  ${START}  200     POST /v1/pages        pages.create`,
    `default-000002  ${START}  400     POST /v1/pages        pages.create  validation_failed`,
    `default-000003  ${START}  404     GET /v1/data-views/x                route_not_found`,
  ])
})

test.for([
  [
    ['--operation', 'pages.create'],
    [1, 2],
  ],
  [
    ['--status', '4xx'],
    [2, 3],
  ],
  [['--method', 'GET'], [3]],
  [['--path', '/v1/data*'], [3]],
  [['--since', 'default-000002'], [3]],
  [['--idempotency-key', '*'], []],
  [
    ['--limit', '2'],
    [2, 3],
  ],
] as const)('requests can be filtered by %j', async ([argv, expected]) => {
  const { data } = await someRequests()
  const found = (await data('requests', ...argv)).data
  expect(found.map(({ id }: { id: string }) => Number(id.split('-')[1]))).toEqual(expected)
})

test('the list reports how many requests it leaves out', async () => {
  const { run } = await someRequests()
  expect((await run('requests', '--limit', '1')).out.split('\n').at(-1)).toBe(
    'The newest 1 of 3 matching requests; --limit shows more.',
  )
  expect((await run('requests', '--status', '500')).out).toBe('No request in the log matches.')
  const { url } = await fakeControl({ data: [], matched: 0, capacity: 1000, dropped: 5 })
  expect((await command(['requests', '--url', url])).out).toContain(
    'The log keeps 1000 requests; 5 older ones were dropped.',
  )
})

test('an invalid filter is refused with a fix', async () => {
  const { run } = await someRequests()
  expect(await run('requests', '--operation', 'pages.creat')).toMatchObject({
    code: 1,
    err: expect.stringContaining('Did you mean "pages.create"?'),
  })
})

test('explain describes a request, with the summary first', async () => {
  const { run } = await someRequests()
  const { out } = await run('explain', 'default-000001')
  const lines = out.split('\n')
  expect(lines[0]).toMatch(/^POST \/v1\/pages was completed with 200 by the step handle: it created pages\//)
  expect(out).toContain(`Request      default-000001 at ${START}\n`)
  expect(out).toContain('Operation    pages.create: POST /pages\n')
  expect(out).toContain('Caller       user key key-owner in teamspace teamspace-harbor for user-mara\n')
  expect(out).toMatch(
    /\nRate limit {3}Before this request, 200 of 200 requests per 60 s remained\. It counts/,
  )
  expect(out).toMatch(/\nSteps\n {2}✓ receive/)
  expect(out).toMatch(/\n {2}● handle {10}It responded with 200/)
  expect(out).toMatch(/\nChanges\n {2}pages\/[0-9a-f]{24} created\n {4}add \(all\) \{"object":"page"/)
  expect(out).toMatch(/\nAssumptions\n {2}U\d{3} {2}\S/)
})

test('without an id, explain uses the latest request; a refusal shows its step and reason', async () => {
  const { run } = await someRequests()
  const latest = (await run('explain')).out
  expect(latest).toContain('Request      default-000003')
  expect(latest).toMatch(/✗ route {11}There is no operation/)
  expect(latest).toMatch(/· not reached: authenticate, rateLimit, .*handle/)
  const invalid = (await run('explain', 'default-000002')).out
  expect(invalid).toMatch(/\nError\n {2}400 validation_failed\n {2}\/name: /)
})

test('explain --json prints the unchanged response', async () => {
  const { data } = await someRequests()
  expect((await data('explain', 'default-000001')).steps).toHaveLength(STEPS.length)
})

test('explain finds requests of another sandbox by their ids', async () => {
  const { run, emulator } = await someRequests()
  await fetch(`http://127.0.0.1:${emulator.port}/@w1/v1/data-views`)
  expect((await run('explain', 'w1-000001')).out).toContain('Sandbox      w1. The path begins with /@w1.')
  expect((await run('explain', '--sandbox', 'w1')).out).toContain('w1-000001')
})

test.for([
  [['explain', 'default-000099'], 'There is no request default-000099'],
  [['explain', 'x/../y'], '"x/../y" is not the id of a request'],
  [['explain', '--sandbox', 'w9'], 'There is no sandbox "w9".'],
] as const)('%j cannot be explained', async ([argv, message]) => {
  const { run } = await someRequests()
  expect(await run(...argv)).toMatchObject({ code: 1, err: expect.stringContaining(message) })
})

const NO_QUOTA = { remaining: 200, reset: 0, retry_after: null }

/** The trace of a request with the fewest possible fields. */
const TRACE: RequestTrace = {
  summary: 'It worked.',
  request: {
    id: 'x-000001',
    at: START,
    method: 'GET',
    path: '/v1/x',
    query: {},
    headers: {},
    body: null,
    body_kept: false,
    body_bytes: null,
  },
  response: null,
  sandbox: { name: 'x', chosen_by: 'path', description: 'The path begins with /@x.' },
  route: { operation: null, method: null, path: null, params: {}, near_misses: [] },
  steps: [],
  caller: null,
  limiter: {
    key: null,
    limit: 200,
    window_s: null,
    before: null,
    after: NO_QUOTA,
    other_rule: null,
    description: '',
  },
  idempotency: { outcome: 'none', key: null, description: '' },
  faults: [],
  error: null,
  changes: [],
  scheduled: [],
  unscheduled: [],
  deliveries: [],
  assumptions: [],
  specification: null,
}

test('explain prints changes, events, webhooks and faults, and omits absent parts', async () => {
  const unfired = { preset: null, source: null, counter: null }
  const story: RequestTrace = {
    ...TRACE,
    changes: [
      {
        ref: 'b/1',
        action: 'changed',
        step: 'poll',
        patch: [{ op: 'replace', path: '/status', value: 'done' }],
      },
      { ref: 'b/2', action: 'deleted', step: 'handle', patch: [{ op: 'remove', path: '' }] },
      {
        ref: 'b/3',
        action: 'created',
        step: 'handle',
        patch: [{ op: 'add', path: '', value: 'x'.repeat(200) }],
      },
    ],
    scheduled: [
      { at: START, kind: 'k', ref: 'b/1', description: 'It ends.', instead_of: '2026-01-01T00:00:00.000Z' },
    ],
    unscheduled: [{ at: START, kind: 'k', ref: 'b/1', description: 'It would have ended.' }],
    deliveries: [{ id: 'd', type: 'b.done', url: 'http://127.0.0.1:9/', about: 'b/1' }],
    faults: [
      {
        ...unfired,
        rule: 'f1',
        fired: false,
        description: 'The operation is another.',
        actions: [],
        sent: null,
      },
      {
        ...unfired,
        rule: 'f2',
        fired: true,
        description: 'It fired on match number 1.',
        actions: ['respond', 'cut'],
        sent: { stage: 'after-head', bytes: 120, end: 'cut' },
      },
    ],
    error: {
      code: 'c',
      status: 409,
      detail: 'no',
      mitigation: 'Wait.',
      issues: [{ pointer: '', detail: 'no' }],
      issues_total: 3,
    },
  }
  const { url } = await fakeControl(story)
  const { out } = await command(['explain', 'x-000001', '--url', url])
  expect(out.split('\n')).toEqual(
    [
      'It worked.',
      '',
      `Request      x-000001 at ${START}`,
      'Sandbox      x. The path begins with /@x.',
      'Operation    none',
      '',
      'Error',
      '  409 c',
      '  /: no',
      '  and 2 more',
      '  Wait.',
      '',
      'Faults',
      '  · f1: The operation is another.',
      '  ● f2: It fired on match number 1. Did: respond, cut. The response was sent up to after-head, 120 bytes.',
      '',
      'Changes',
      '  b/1 changed, by the step poll',
      '    replace /status "done"',
      '  b/2 deleted',
      '    remove (all)',
      '  b/3 created',
      `    add (all) "${'x'.repeat(99)}…`,
      '',
      'Scheduled',
      `  ${START}  It ends. [b/1] (moved from 2026-01-01T00:00:00.000Z)`,
      '',
      'Not scheduled any more',
      `  ${START}  It would have ended. [b/1]`,
      '',
      'Webhooks',
      '  b.done about b/1, to http://127.0.0.1:9/',
      '',
      'Assumptions',
    ].slice(0, -2),
  )
})

test('a request of a page that cannot read the response is marked in the list, and explained', async () => {
  const { run, emulator } = await running({ fixtures: 'demo' })
  const headers = { authorization: 'Bearer live_demo_owner', origin: 'https://app.example' }
  await fetch(`${emulator.baseUrl}/data-views`, { headers })
  expect((await run('requests')).out.split('\n')[1]).toMatch(
    /200 {5}GET \/v1\/data-views {2}data-views.list {2}blocked by CORS$/,
  )
  const { out } = await run('explain')
  expect(out.split('\n')[0]).toMatch(/ so the browser does not let the page read this response\.$/)
  expect(out).toContain(
    'Browser\n  Start the emulator with --cors-origin https://app.example (corsOrigins in JavaScript).',
  )
  expect((await run('requests', '--full')).out.split('\n').slice(1, 2)).toEqual([
    '  Pages of https://app.example may not use the API, so the browser does not let the page read this response. Start the emulator with --cors-origin https://app.example (corsOrigins in JavaScript).',
  ])
})

test('explain names query parameters that nothing reads', async () => {
  const { run, emulator } = await running({ fixtures: 'demo' })
  await fetch(`${emulator.baseUrl}/data-views?limt=3`, {
    headers: { authorization: 'Bearer live_demo_owner' },
  })
  expect((await run('explain')).out).toContain(
    '\nNot read     Nothing reads the query parameter "limt" of data-views.list. Did you mean "limit"?\n',
  )
})

test('--columns chooses the columns of the list', async () => {
  const { run, emulator } = await running({ fixtures: 'demo' })
  await fetch(`${emulator.baseUrl}/nowhere`, { headers: { authorization: 'Bearer live_demo_owner' } })
  const { out } = await run('requests', '--columns', 'status,path,decided')
  expect(out).toBe('STATUS  PATH         DECIDED\n404     /v1/nowhere  route')
})
