import { expect, test } from 'vitest'
import { allCommands } from '../../src/cli/command-line.ts'
import { fakeControl } from './fake-control.ts'
import { command } from './in-process.ts'
import { START } from './running.ts'

/** A port without a server, and that fetch does not block (it blocks port 1). */
const SILENT = 'http://127.0.0.1:2'

/** The body of every response: what any command reads of one. */
const ANSWER = {
  ...{ data: [], overrides: [], removed: [], never_fired: [], held: [], events: [], failed: [] },
  ...{ findings: [], not_judged: [], ahead: [], gaps: [], magic_values: [], problems: [], warnings: [] },
  ...{ values: { k: 1 }, judged: {}, progress: {}, plan: { pace: {} }, batch: {} },
  ...{ request: { headers: {} }, log: { entries: [] }, passed: true, expected: {} },
  ...{ from: START, to: START, frozen: null, next: null, active: null, problem: null, last_error: null },
}

/** What each command that calls an emulator sends: its calls below /__emulator, and their bodies. */
const CALLS: readonly (readonly [line: string, calls: string, ...bodies: object[]])[] = [
  ['wait', 'GET /ready'],
  ['status', 'GET /health, GET /clock'],
  ['reset', 'POST /reset'],
  ['call get clock', 'GET /clock'],
  ['call POST __emulator/stubs?stable=true {"path":"/a"}', 'POST /stubs?stable=true', { path: '/a' }],
  ['clock', 'GET /clock'],
  ['clock --sandbox w1', 'GET /@w1/clock'],
  ['clock advance 24h --max-events 5', 'POST /clock/advance', { by: '24h', max_events: 5 }],
  ['clock advance --to 2026-03-02', 'POST /clock/advance', { to: '2026-03-02T00:00:00.000Z' }],
  ['clock advance --steps 3 --stable', 'POST /clock/advance?stable=true', { steps: 3 }],
  ['clock advance --until-batch b1', 'POST /clock/advance', { until: { batch: 'b1' } }],
  [
    'clock advance --until-batch b1 --status finalizing --items 2',
    'POST /clock/advance',
    { until: { batch: 'b1', status: 'finalizing', finished_items: 2 } },
  ],
  ['clock rate 60', 'PATCH /clock', { rate: 60 }],
  ['events', 'GET /clock/horizon'],
  ['requests', 'GET /requests'],
  [
    'requests --operation pages.create --method POST --path /v1/p* --status 4xx --since r1 --trace 4b*',
    'GET /requests?operation=pages.create&method=POST&path=%2Fv1%2Fp*&status=4xx&since=r1&trace=4b*',
  ],
  ['requests --idempotency-key * --limit 2', 'GET /requests?idempotency_key=*&limit=2'],
  ['requests --full --stable', 'GET /requests?stable=true&full=true'],
  ['requests export --status 404', 'GET /requests/har?status=404'],
  ['requests verify {"method":"POST"}', 'POST /requests/verify', { match: { method: 'POST' } }],
  ['requests verify {} --exactly 0', 'POST /requests/verify', { match: {}, count: { exactly: 0 } }],
  ['requests wait {} --count 2 --timeout 9ms', 'POST /requests/wait', { match: {}, count: 2, timeout_ms: 9 }],
  ['conduct --except wait.none --except key.missing', 'GET /conduct?except=wait.none%2Ckey.missing'],
  ['coverage', 'GET /coverage'],
  ['snapshot list', 'GET /snapshots'],
  ['snapshot save s', 'POST /snapshots', { name: 's' }],
  ['snapshot restore s', 'POST /snapshots/s/restore'],
  ['snapshot delete s', 'DELETE /snapshots/s'],
  ['sandbox list', 'GET /sandboxes'],
  ['sandbox create w1', 'POST /@w1/sandboxes', { name: 'w1' }],
  [
    'sandbox create w1 --seed 7 --clock 2027-01-01 --fixtures demo --rate 5 --skip-on-poll --persist --scenario x',
    'POST /@w1/sandboxes',
    {
      ...{ name: 'w1', seed: 7, clock: '2027-01-01T00:00:00.000Z', fixtures: 'demo', rate: 5 },
      ...{ skip_on_poll: true, persist: true, scenario: 'x' },
    },
  ],
  ['sandbox create w --from-snapshot s --sandbox v', 'POST /@v/sandboxes', { name: 'w', from_snapshot: 's' }],
  ['sandbox delete w1', 'DELETE /@w1/sandboxes/w1'],
  ['gates', 'GET /gates'],
  ['gates release', 'GET /gates'],
  ['gates abort g', 'POST /gates/g/abort'],
  ['faults list', 'GET /faults'],
  ['faults add slow', 'POST /faults', { preset: 'slow' }],
  ['faults add slow --first 2', 'POST /faults?first=2', { preset: 'slow' }],
  ['faults add slow --always', 'POST /faults?always=true', { preset: 'slow' }],
  [
    'faults add slow --operation a.b --match query.after=a=b --match connection_request_index=2',
    'POST /faults',
    { preset: 'slow', match: { operation: 'a.b', query: { after: 'a=b' }, connection_request_index: 2 } },
  ],
  [
    'faults add {"match":{"path":"/v1/a","method":"GET"}} --match path=/v1/b --match headers.user-agent=curl/*',
    'POST /faults',
    { match: { path: '/v1/b', method: 'GET', headers: { 'user-agent': 'curl/*' } } },
  ],
  ['faults clear', 'DELETE /faults'],
  ['faults clear a;b="c"', 'DELETE /faults/a%3Bb%3D%22c%22'],
  ['faults presets', 'GET /fault-presets'],
  ['latency', 'GET /faults'],
  ['limits list', 'GET /limits'],
  ['limits fill pages.create', 'POST /limits/pages.create/fill', { remaining: 0 }],
  [
    'limits fill a.b --remaining 3 --teamspace t',
    'POST /limits/a.b/fill',
    { remaining: 3, teamspace_id: 't' },
  ],
  ['limits set pages.create 5 --window 10s', 'PUT /limits/pages.create', { limit: 5, window_s: 10 }],
  ['limits clear pages.create', 'DELETE /limits?operation=pages.create'],
  ['scenario list', 'GET /scenarios'],
  ['scenario start calm', 'POST /scenarios/calm/start', {}],
  ['scenario start calm --reset', 'POST /scenarios/calm/start', { reset: true }],
  ['scenario stop', 'GET /faults, POST /scenarios/stop'],
  ['endpoints', 'GET /endpoints'],
  ['state', 'GET /collections'],
  ['state list pages --secrets', 'GET /state/pages?secrets=true'],
  ['state get pages p', 'GET /state/pages/p'],
  ['state put pages p {"id":"p"}', 'PUT /state/pages/p', { id: 'p' }],
  ['state patch pages p {"name":null}', 'PATCH /state/pages/p', { name: null }],
  ['state delete pages p', 'DELETE /state/pages/p'],
  ['state export --secrets --stable', 'GET /state?secrets=true&stable=true'],
  ['state import {"format":2}', 'PUT /state', { format: 2 }],
  ['record', 'GET /record'],
  ['batch list', 'GET /batches'],
  ['batch show b', 'GET /batches/b'],
  ['batch hold b', 'PATCH /batches/b', { hold: true }],
  ['batch release b', 'PATCH /batches/b', { hold: false }],
  ['batch fail b overloaded', 'POST /batches/b/fail', { detail: 'overloaded' }],
  ['batch expire b', 'POST /batches/b/expire'],
  ['batch complete b', 'POST /batches/b/complete'],
  ['batch cleanup b', 'POST /batches/b/cleanup'],
  ['batch results b', 'GET /batches/b/results'],
  ['webhook list', 'GET /webhooks'],
  ['webhook add', 'POST /webhooks', { inbox: true }],
  [
    'webhook add http://a/ --event x --event y --secret s',
    'POST /webhooks',
    { url: 'http://a/', events: ['x', 'y'], secret: 's' },
  ],
  ['webhook trigger x --batch b --data {}', 'POST /webhooks/trigger', { type: 'x', batch: 'b', data: {} }],
  ['webhook remove', 'DELETE /webhooks'],
  ['webhook remove w', 'DELETE /webhooks/w'],
  ['webhook deliveries', 'GET /webhooks/deliveries'],
  ['webhook redeliver d', 'POST /webhooks/deliveries/d/redeliver'],
  ['webhook inbox', 'GET /webhooks/inbox'],
  ['settings get', 'GET /settings'],
  ['settings set k accept', 'PATCH /settings', { k: 'accept' }],
  ['settings set k null', 'PATCH /settings', { k: null }],
  ['assumptions', 'GET /assumptions'],
]

test.for(CALLS)('%s: %s', async ([line, calls, ...bodies]) => {
  const { url, asked } = await fakeControl(ANSWER)
  const argv = [...line.split(' '), '--json']
  const { code, out, err } = await command([...argv, '--url', url])
  const sent = asked.map(({ method, path }) => `${method} ${path.replace('/__emulator', '')}`).join(', ')
  expect([sent, asked.flatMap(({ body }) => (body === '' ? [] : JSON.parse(body)))]).toEqual([calls, bodies])
  expect([code, out.includes('\n'), err]).toEqual([0, false, ''])
  expect(JSON.parse(out)).toEqual(expect.any(Object))
  const brief = line === 'wait' ? ['--timeout', '0s'] : []
  const silent = await command([...argv, ...brief, '--url', SILENT])
  expect(silent).toEqual({ code: 1, out: '', err: expect.stringContaining(`Nothing listens at ${SILENT}.`) })
})

test('every command about a sandbox is above, apart from those that need more than one fixed response', async () => {
  const about = (await allCommands()).filter(({ options }) => Object.hasOwn(options, 'sandbox'))
  const isAbove = (name: string) => CALLS.some(([line]) => line === name || line.startsWith(`${name} `))
  const others = about.filter(({ name }) => !isAbove(name)).map(({ name }) => name)
  expect(others).toEqual(['mcp', 'open', 'env', 'explain', 'webhook listen', 'completion'])
  for (const line of ['open', 'env', 'explain', 'explain r1', 'webhook listen', 'stop']) {
    const { code, err } = await command([...line.split(' '), '--url', SILENT])
    expect([line, code, err]).toEqual([line, 1, expect.stringContaining('Nothing listens at')])
  }
})

test('every command has --json and treats an unknown flag as misuse', async () => {
  for (const { name, options } of await allCommands()) {
    expect(options, name).toHaveProperty('json')
    const { code, out, err } = await command([...name.split(' '), '--jsn'])
    expect([name, code, out, err.split('\n', 2)]).toEqual([
      ...[name, 2, ''],
      ["unknown option '--jsn'", '(Did you mean --json?)'],
    ])
  }
})
