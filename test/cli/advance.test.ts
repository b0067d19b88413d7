import { expect, test } from 'vitest'
import { fakeControl } from './fake-control.ts'
import { command } from './in-process.ts'
import { running, START } from './running.ts'

const RESULT = { from: START, to: '2026-03-02T12:00:00.000Z', events: [], failed: [] }

const NO_TARGET =
  'clock advance needs one target: a duration such as 90s, 10m, 24h, 29d or PT24H, or one of --to, --steps and --until-batch.'
const NO_BATCH = '--status and --items need a batch. Name it with --until-batch.'

test.for([
  ['', NO_TARGET],
  [' 1h --steps 1', NO_TARGET],
  [' 1h --status completed', NO_BATCH],
  [' 1h --items 3', NO_BATCH],
  [' --steps 0', '--steps: "0" is not a count. Give a whole number from 1.'],
] as const)('clock advance%s is misuse', async ([flags, err]) => {
  expect(await command(`clock advance${flags}`.split(' '))).toEqual({ code: 2, out: '', err })
})

/** The lines that `clock advance` prints for a result, without the first. */
async function shown(result: object, flags: readonly string[] = []): Promise<string[]> {
  const { url } = await fakeControl({ ...RESULT, ...result })
  const argv = ['clock', 'advance', '24h', ...flags, '--url', url]
  const { code, out } = await command(argv)
  const [first, ...lines] = out.split('\n')
  expect([code, first]).toEqual([0, `${START} to ${RESULT.to}`])
  return lines
}

const AT = '2026-03-01T12:08:00.000Z'
const event = (kind: string, ref: string, description: string) => ({ at: AT, kind, ref, description })
const webhook = (attempt: number, status: number | null, ms: number) => ({
  ...event('webhook.delivered', 'w/1', `Attempt ${attempt}.`),
  webhook: { url: 'u', attempt, status, ms },
})

test('the result shows moves, attempts to deliver webhooks, and events that failed', async () => {
  const move = { ...event('batch.complete', 'b/1', 'It is completed.'), from: 'finalizing', to: 'completed' }
  const events = [move, webhook(1, 200, 12), webhook(2, null, 3_000)]
  const failed = [{ ...event('shelf.close', 'shelves/1', 'The shelf closes.'), error: 'it is cursed' }]
  expect(await shown({ events, failed })).toEqual([
    `  ${AT}  It is completed. (finalizing to completed)`,
    `  ${AT}  Attempt 1. [HTTP 200, 12 ms]`,
    `  ${AT}  Attempt 2. [no response, 3000 ms]`,
    'Failed:',
    `  ${AT}  The shelf closes.: failed, it is cursed`,
  ])
})

test('of several records of a collection, each event names its own, unless its text does', async () => {
  const events = [event('x', 'b/1', 'It starts.'), event('x', 'w/1', 'It is sent.')]
  const failed = [
    { ...event('x', 'b/2', 'It starts.'), error: 'no' },
    { ...event('x', 'b/333', 'The batch 333 starts.'), error: 'no' },
  ]
  expect(await shown({ events, failed })).toEqual([
    `  ${AT}  It starts. [b/1]`,
    `  ${AT}  It is sent.`,
    'Failed:',
    `  ${AT}  It starts. [b/2]: failed, no`,
    `  ${AT}  The batch 333 starts.: failed, no`,
  ])
})

const automationRun = (minute: number) => {
  const [at, ref] = [`2026-03-01T12:0${minute}:00.000Z`, 'automations/a']
  const caused_by = `automation.fire:${ref}`
  return [
    { at, kind: 'automation.fire', ref, description: 'It fires.', caused_by: 'fixtures' },
    { at, kind: 'agent-run.execute', ref: 'agent_runs/r', description: 'It runs.', caused_by },
  ]
}
const MIXED = {
  events: [...[1, 2, 3].flatMap(automationRun), event('batch.start', 'b/1', 'It starts.')],
  failed: [{ ...event('webhook.failed', 'w/1', 'It is sent.'), error: 'no' }],
  omitted: { 'agent-run.execute': 7, 'batch.start': 2 },
}
const STARTED = `  ${AT}  It starts.`
const RUNS =
  '  2026-03-01T12:01:00.000Z  3 runs of 1 automation until 2026-03-01T12:03:00.000Z; --all lists them'
const EACH_RUN = [1, 2, 3].flatMap((n) =>
  ['It fires.', 'It runs.'].map((text) => `  2026-03-01T12:0${n}:00.000Z  ${text}`),
)
const FAILED = ['Failed:', `  ${AT}  It is sent.: failed, no`]
const BEYOND = 'Further events, which are not listed:'

test.for([
  ['', [STARTED, RUNS, ...FAILED, BEYOND, '  7 of agent-run.execute', '  2 of batch.start']],
  [' --all', [...EACH_RUN, STARTED, ...FAILED, BEYOND, '  7 of agent-run.execute', '  2 of batch.start']],
  [' --only batch', [STARTED, BEYOND, '  2 of batch.start']],
  [' --only webhook', FAILED],
] as const)('the list of events with%s', async ([flags, lines]) => {
  expect(await shown(MIXED, flags.split(' ').slice(1))).toEqual(lines)
})

test.for([
  ['a topic without events is', { ...MIXED, failed: [] }, '  No listed event is about a webhook.'],
  [
    'a limit that was reached is',
    { stopped: 'limit' },
    `Stopped at the limit of events, at ${RESULT.to}: run the command again to continue.`,
  ],
  [
    'control characters are escaped when an event is',
    { events: [event('webhook.x', 'b/1', 'a\u001b[2Jb\nc')] },
    `  ${AT}  a\\u001b[2Jb\\nc`,
  ],
] as const)('%s reported', async ([, result, line]) => {
  // With max_events the command does not go on at the limit.
  expect(await shown(result, ['--only', 'webhook', '--max-events', '9'])).toContain(line)
})

test('--json has all events, and with --only those of the topic', async () => {
  const { url } = await fakeControl({ ...RESULT, ...MIXED })
  const json = async (...flags: string[]) =>
    JSON.parse((await command(['clock', 'advance', '24h', '--json', ...flags, '--url', url])).out)
  expect(await json()).toEqual({ ...RESULT, ...MIXED })
  const selected = { events: MIXED.events.slice(6), omitted: { 'batch.start': 2 } }
  expect(await json('--only', 'batch')).toEqual({ ...RESULT, ...selected })
})

test('a running clock that lags reports its lag', async () => {
  const { url } = await fakeControl({ now: START, rate: 60, lag_ms: 7_200_400, next: null, frozen: null })
  const { out } = await command(['clock', '--url', url])
  expect(out.split('\n')[0]).toBe(`${START}, rate 60, 7200 s behind`)
})

test('29 days of the demo data are two lines, because its automations run at most once a week', async () => {
  const { run } = await running({ fixtures: 'demo' })
  expect((await run('clock', 'advance', '29d')).out.split('\n')).toHaveLength(2)
  const { out } = await run('clock', 'advance', '7d', '--only', 'automation')
  expect(out.match(/The automation fires/g)?.length).toBeLessThanOrEqual(3)
})
