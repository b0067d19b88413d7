import { expect, test } from 'vitest'
import { fakeControl } from './fake-control.ts'
import { command } from './in-process.ts'
import { createBatch, running, START } from './running.ts'

const RESULT = { from: START, to: '2026-03-02T12:00:00.000Z', events: [], failed: [] }

test.for([
  [['24h'], { by: '24h' }],
  [['--to', '2026-03-02T12:00:00Z'], { to: '2026-03-02T12:00:00.000Z' }],
  [['--steps', '3'], { steps: 3 }],
  [['24h', '--max-events', '5'], { by: '24h', max_events: 5 }],
  [['--until-batch', 'b1'], { until: { batch: 'b1' } }],
  [['--until-batch', 'b1', '--status', 'finalizing'], { until: { batch: 'b1', status: 'finalizing' } }],
  [['--until-batch', 'b1', '--items', '2'], { until: { batch: 'b1', finished_items: 2 } }],
] as const)('clock advance %j sends %j', async ([argv, body]) => {
  const { url, asked } = await fakeControl(RESULT)
  const { code, out } = await command(['clock', 'advance', ...argv, '--url', url])
  expect([code, out]).toEqual([0, `${START} to 2026-03-02T12:00:00.000Z`])
  expect(asked.map((each) => [each.method, each.path, JSON.parse(each.body)])).toEqual([
    ['POST', '/__emulator/clock/advance', body],
  ])
})

const NO_TARGET =
  'clock advance needs one target: a duration such as 90s, 10m, 24h, 29d or PT24H, or one of --to, --steps and --until-batch.'
const NO_BATCH = '--status and --items need a batch. Name it with --until-batch.'

test.for([
  [[], NO_TARGET],
  [['1h', '--steps', '1'], NO_TARGET],
  [['1h', '--status', 'completed'], NO_BATCH],
  [['1h', '--items', '3'], NO_BATCH],
  [['--steps', '0'], '--steps: "0" is not a count. Give a whole number from 1.'],
  [
    ['--to', 'noon'],
    '--to: "noon" is not an instant of the clock. Give an ISO 8601 date-time from 1970-01-01T00:00:00.000Z to 9998-12-31T23:59:59.999Z, such as 2026-03-01T12:00:00Z.',
  ],
] as const)('clock advance %j is misuse', async ([argv, err]) => {
  expect(await command(['clock', 'advance', ...argv])).toEqual({ code: 2, out: '', err })
})

test('the result shows moves, attempts to deliver webhooks, and events that failed', async () => {
  const at = '2026-03-01T12:00:02.000Z'
  const { url } = await fakeControl({
    ...RESULT,
    events: [
      {
        at,
        kind: 'batch.complete',
        ref: 'b/1',
        description: 'It is completed.',
        from: 'finalizing',
        to: 'completed',
      },
      {
        at,
        kind: 'webhook.delivered',
        ref: 'w/1',
        description: 'Attempt 1 to deliver x succeeded.',
        webhook: { url: 'u', attempt: 1, status: 200, ms: 12 },
      },
      {
        at,
        kind: 'webhook.failed',
        ref: 'w/1',
        description: 'Attempt 2 to deliver x failed.',
        webhook: { url: 'u', attempt: 2, status: null, ms: 3000 },
      },
    ],
    failed: [
      { at, kind: 'shelf.close', ref: 'shelves/1', description: 'The shelf closes.', error: 'it is cursed' },
    ],
  })
  const { out } = await command(['clock', 'advance', '24h', '--url', url])
  expect(out.split('\n')).toEqual([
    `${START} to 2026-03-02T12:00:00.000Z`,
    `  ${at}  It is completed. (finalizing to completed)`,
    `  ${at}  Attempt 1 to deliver x succeeded. [HTTP 200, 12 ms]`,
    `  ${at}  Attempt 2 to deliver x failed. [no response, 3000 ms]`,
    'Failed:',
    `  ${at}  The shelf closes.: failed, it is cursed`,
  ])
})

const run = (minute: number) => {
  const [at, ref] = [`2026-03-01T12:0${minute}:00.000Z`, 'automations/a']
  return [
    { at, kind: 'automation.fire', ref, description: 'It fires.', caused_by: 'fixtures' },
    {
      at,
      kind: 'agent-run.execute',
      ref: 'agent_runs/r',
      description: 'It runs.',
      caused_by: `automation.fire:${ref}`,
    },
  ]
}
const MIXED = {
  ...RESULT,
  events: [
    ...[1, 2, 3].flatMap(run),
    { at: '2026-03-01T12:08:00.000Z', kind: 'batch.start', ref: 'b/1', description: 'It starts.' },
  ],
  failed: [{ at: START, kind: 'webhook.failed', ref: 'w/1', description: 'It is sent.', error: 'no' }],
  omitted: { 'agent-run.execute': 7, 'batch.start': 2 },
}
const STARTED = '  2026-03-01T12:08:00.000Z  It starts.'
const RUNS =
  '  2026-03-01T12:01:00.000Z  3 runs of 1 automation until 2026-03-01T12:03:00.000Z; --all lists them'
const FAILED = ['Failed:', `  ${START}  It is sent.: failed, no`]
const BEYOND = 'Further events, which are not listed:'

test.for([
  [[], [STARTED, RUNS, ...FAILED, BEYOND, '  7 of agent-run.execute', '  2 of batch.start']],
  [
    ['--all'],
    [
      ...[1, 2, 3].flatMap((n) => [
        `  2026-03-01T12:0${n}:00.000Z  It fires.`,
        `  2026-03-01T12:0${n}:00.000Z  It runs.`,
      ]),
      STARTED,
      ...FAILED,
      BEYOND,
      '  7 of agent-run.execute',
      '  2 of batch.start',
    ],
  ],
  [
    ['--only', 'batch'],
    [STARTED, BEYOND, '  2 of batch.start'],
  ],
  [['--only', 'webhook'], FAILED],
] as const)('the list of events with %j', async ([flags, lines]) => {
  const { url } = await fakeControl(MIXED)
  const { out } = await command(['clock', 'advance', '24h', ...flags, '--url', url])
  expect(out.split('\n')).toEqual([`${START} to 2026-03-02T12:00:00.000Z`, ...lines])
})

test('in a narrow terminal, the line of the automations continues below its text', async () => {
  const { url } = await fakeControl({ ...MIXED, failed: [], omitted: {} })
  const { out } = await command(['clock', 'advance', '24h', '--url', url], { NO_COLOR: '1' }, 60)
  expect(out.split('\n').slice(1)).toEqual([
    STARTED,
    '  2026-03-01T12:01:00.000Z  3 runs of 1 automation until',
    '                            2026-03-01T12:03:00.000Z; --all',
    '                            lists them',
  ])
})

test('of several records of a collection, each event names its own', async () => {
  const at = '2026-03-01T12:08:00.000Z'
  const event = (ref: string, description: string) => ({ at, kind: 'x', ref, description })
  const { url } = await fakeControl({
    ...RESULT,
    events: [event('b/1', 'It starts.'), event('w/1', 'It is sent.')],
    failed: [event('b/2', 'It starts.'), event('b/333', 'The batch 333 starts.')].map((each) => ({
      ...each,
      error: 'no',
    })),
  })
  const { out } = await command(['clock', 'advance', '24h', '--url', url])
  expect(out.split('\n').slice(1)).toEqual([
    `  ${at}  It starts. [b/1]`,
    `  ${at}  It is sent.`,
    'Failed:',
    `  ${at}  It starts. [b/2]: failed, no`,
    `  ${at}  The batch 333 starts.: failed, no`,
  ])
})

test('a topic without events is reported', async () => {
  const { url } = await fakeControl({ ...MIXED, failed: [] })
  const { out } = await command(['clock', 'advance', '24h', '--only', 'webhook', '--url', url])
  expect(out.split('\n')).toEqual([
    `${START} to 2026-03-02T12:00:00.000Z`,
    '  No listed event is about a webhook.',
  ])
})

test('--json has all events, and with --only those of the topic', async () => {
  const { url } = await fakeControl(MIXED)
  const json = async (...flags: string[]) =>
    JSON.parse((await command(['clock', 'advance', '24h', '--json', ...flags, '--url', url])).out)
  expect(await json()).toEqual(MIXED)
  expect(await json('--only', 'batch')).toEqual({
    ...RESULT,
    events: MIXED.events.slice(6),
    omitted: { 'batch.start': 2 },
  })
})

test('events beyond the list are counted by kind, and a reached limit is reported', async () => {
  const { url } = await fakeControl({ ...RESULT, stopped: 'limit', omitted: { 'batch.start': 7, x: 2 } })
  const { out, code } = await command(['clock', 'advance', '24h', '--max-events', '9', '--url', url])
  expect(code).toBe(0)
  expect(out.split('\n')).toEqual([
    `${START} to 2026-03-02T12:00:00.000Z`,
    'Further events, which are not listed:',
    '  7 of batch.start',
    '  2 of x',
    'Stopped at the limit of events, at 2026-03-02T12:00:00.000Z: run the command again to continue.',
  ])
})

test('a running clock that lags reports its lag', async () => {
  const { url } = await fakeControl({
    now: START,
    rate: 60,
    skip_on_poll: false,
    lag_ms: 7_200_400,
    next: null,
    frozen: null,
  })
  const { out } = await command(['clock', '--url', url])
  expect(out.split('\n')[0]).toBe(`${START}, rate 60, 7200 s behind`)
})

test('control characters in output are escaped', async () => {
  const { url } = await fakeControl({
    ...RESULT,
    events: [{ at: START, kind: 'x', ref: 'b/1', description: 'a\u001b[2Jb\nc' }],
  })
  const { out } = await command(['clock', 'advance', '24h', '--url', url])
  expect(out.split('\n')[1]).toBe(`  ${START}  a\\u001b[2Jb\\nc`)
})

test('an advance waits for items of a batch, then for its end, and refuses an earlier status', async () => {
  const { emulator, run } = await running({ fixtures: 'demo' })
  const id = await createBatch(emulator.baseUrl, 'first', 'second')
  const some = await run('clock', 'advance', '--until-batch', id, '--items', '1')
  expect(some.out).toContain('(validating to in_progress)')
  const all = await run('clock', 'advance', '--until-batch', id)
  expect(all.out).toMatch(/\(finalizing to completed\)$/)
  const never = await run('clock', 'advance', '--until-batch', id, '--status', 'validating')
  expect([never.code, never.err]).toEqual([1, expect.stringContaining('it is completed')])
})

test('--steps stops after that many events', async () => {
  const { run } = await running({ fixtures: 'demo' })
  const { out } = await run('clock', 'advance', '--steps', '2')
  expect(out.split('\n')).toHaveLength(3)
})

test('29 days of the demo data are a few lines, because its automations run at most once a week', async () => {
  const { run } = await running({ fixtures: 'demo' })
  expect((await run('clock', 'advance', '29d')).out.split('\n')).toHaveLength(2)
  const { out } = await run('clock', 'advance', '7d', '--only', 'automation')
  expect(out.match(/The automation fires/g)?.length).toBeLessThanOrEqual(3)
})

test('a call shows the latest advance, also one that another client requested', async () => {
  const { run, data } = await running({ fixtures: 'demo' })
  expect(await run('call', 'GET', 'clock/advance', '--json')).toMatchObject({
    code: 0,
    out: '{"running":false,"result":null}',
  })
  const advanced = await data('clock', 'advance', '1h')
  expect((await data('call', 'GET', 'clock/advance')).result).toEqual(advanced)
})
