import { expect, test } from 'vitest'
import { STEPS } from '../../src/core/request/steps.ts'
import { fakeControl } from './fake-control.ts'
import { command, withError } from './in-process.ts'
import { cells, running, START } from './running.ts'

async function someRequests() {
  const emulator = await running({ fixtures: 'demo' })
  await emulator.api('/pages', { name: 'Plan' })
  await emulator.api('/pages', { name: 7 })
  await emulator.api('/data-views/x')
  return emulator
}

test('requests are listed in columns, one per line, and the list says how many it or the log leaves out', async () => {
  const { run } = await someRequests()
  const lines = [
    'ID              AT                        STATUS  REQUEST               OPERATION     ERROR',
    `default-000001  ${START}  200     POST /v1/pages        pages.create`,
    `default-000002  ${START}  400     POST /v1/pages        pages.create  validation_failed`,
    `default-000003  ${START}  404     GET /v1/data-views/x                route_not_found`,
  ]
  expect((await run('requests')).out.split('\n')).toEqual(lines)
  const one = await run('requests', '--limit', '1')
  expect(one.out).toMatch(/\nThe newest 1 of 3 matching requests; --limit shows more\.$/)
  expect((await run('requests', '--status', '500')).out).toBe('No request in the log matches.')
  const { out } = await run('requests', '--columns', 'status,path,decided', '--limit', '1')
  expect(cells(out).slice(0, 2)).toEqual(['STATUS | PATH | DECIDED', '404 | /v1/data-views/x | route'])
  const { url } = await fakeControl({ data: [], matched: 0, capacity: 1000, dropped: 5 })
  const dropped = 'The log keeps 1000 requests; 5 older ones were dropped.'
  expect((await command(['requests', '--url', url])).out).toContain(dropped)
})

test('explain describes a request, with the summary first; --json has the unchanged response', async () => {
  const { run, data } = await someRequests()
  const { out } = await run('explain', 'default-000001')
  expect(out).toMatch(/^POST \/v1\/pages was completed with 200 by the step handle: it created pages\//)
  for (const part of [
    'Operation    pages.create: POST /pages\n',
    'Caller       user key key-owner in teamspace teamspace-harbor for user-mara\n',
    'Rate limit   Before this request, 200 of 200 requests per 60 s remained. It counts',
    '\nSteps\n  ✓ receive',
    '\n  ● handle          It responded with 200',
  ])
    expect(out).toContain(part)
  expect(out).toMatch(/\nAssumptions\n {2}U\d{3} {2}\S/)
  expect((await data('explain', 'default-000001')).steps).toHaveLength(STEPS.length)
})

test('without an id, explain uses the latest request; a refusal shows its step and reason', async () => {
  const { run } = await someRequests()
  const latest = (await run('explain')).out
  expect(latest).toContain('Request      default-000003')
  expect(latest).toMatch(/✗ route {11}There is no operation/)
  expect(latest).toMatch(/· not reached: authenticate, rateLimit, .*handle/)
})

test('explain finds requests of another sandbox by their ids, or its latest one', async () => {
  const { run, url } = await running()
  await fetch(`${url}/@w1/v1/data-views`)
  expect((await run('explain', 'w1-000001')).out).toContain('Sandbox      w1. The path begins with /@w1.')
  expect((await run('explain', '--sandbox', 'w1')).out).toContain('w1-000001')
})

test.for([
  ['explain default-000099', 'There is no request default-000099'],
  ['explain x/../y', '"x/../y" is not the id of a request'],
  ['explain --sandbox w9', 'There is no sandbox "w9".'],
  ['explain', 'No API request is in the log of the sandbox default. Send one, or name another'],
] as const)('%s has nothing to explain', async ([line, message]) => {
  const { run } = await running()
  expect(await run(...line.split(' '))).toEqual(withError(1, message))
})

test('explain prints changes, events, webhooks and faults, and omits absent parts', async () => {
  const rule = { actions: [], sent: null }
  const sent = { stage: 'after-head', bytes: 120 }
  const issues = [{ pointer: '', detail: 'no' }]
  const { url } = await fakeControl({
    summary: 'It worked.',
    request: { id: 'x-000001', at: START },
    sandbox: { name: 'x', description: 'The path begins with /@x.' },
    route: { operation: null, near_misses: [] },
    ...{ steps: [], caller: null, limiter: {}, idempotency: {}, specification: null, response: null },
    changes: [
      { ref: 'b/1', action: 'changed', step: 'poll', patch: [{ op: 'replace', path: '/s', value: 'done' }] },
      { ref: 'b/3', action: 'created', step: 'handle', patch: [{ op: 'add', value: 'x'.repeat(200) }] },
    ],
    scheduled: [{ at: START, ref: 'b/1', description: 'It ends.', instead_of: '2026-01-01T00:00:00.000Z' }],
    unscheduled: [{ at: START, ref: 'b/1', description: 'It would have ended.' }],
    deliveries: [{ type: 'b.done', url: 'http://127.0.0.1:9/', about: 'b/1' }],
    faults: [
      { ...rule, rule: 'f1', fired: false, description: 'The operation is another.' },
      { ...rule, rule: 'f2', fired: true, description: 'It fired.', actions: ['respond', 'cut'], sent },
    ],
    error: { code: 'c', status: 409, mitigation: 'Wait.', issues, issues_total: 3 },
    assumptions: [],
  })
  const { out } = await command(['explain', 'x-000001', '--url', url])
  expect(out).toBe(`It worked.

Request      x-000001 at ${START}
Sandbox      x. The path begins with /@x.
Operation    none

Error
  409 c
  /: no
  and 2 more
  Wait.

Faults
  · f1: The operation is another.
  ● f2: It fired. Did: respond, cut. The response was sent up to after-head, 120 bytes.

Changes
  b/1 changed, by the step poll
    replace /s "done"
  b/3 created
    add (all) "${'x'.repeat(99)}…

Scheduled
  ${START}  It ends. [b/1] (moved from 2026-01-01T00:00:00.000Z)

Not scheduled any more
  ${START}  It would have ended. [b/1]

Webhooks
  b.done about b/1, to http://127.0.0.1:9/`)
})

test('what a page cannot read, and a query that nothing reads, is in the list and in the explanation', async () => {
  const { run, api } = await running({ fixtures: 'demo' })
  await api('/data-views?limt=3', undefined, { origin: 'https://app.example' })
  const fix = 'Start the emulator with --cors-origin https://app.example (corsOrigins in JavaScript).'
  expect((await run('requests')).out).toMatch(/ {2}data-views.list {2}blocked by CORS$/)
  const { out } = await run('explain')
  expect(out).toMatch(/^.* so the browser does not let the page read this response\.\n/)
  expect(out).toContain(`Browser\n  ${fix}`)
  expect(out).toContain('\nNot read     Nothing reads the query parameter "limt" of data-views.list. Did you')
  expect((await run('requests', '--full')).out).toMatch(/\n {2}Pages of https:\/\/app\.example may not .*\n/)
})
