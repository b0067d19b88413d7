import { expect, test } from 'vitest'
import { fakeControl } from './fake-control.ts'
import { command } from './in-process.ts'
import { running, START } from './running.ts'

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

test.for([
  [['1h', '--steps', '1'], 'clock advance accepts one target, but got "1h", --steps. Give one of them.'],
  [['1h', '--status', 'completed'], '--status needs a batch. Name it with --until-batch.'],
  [['1h', '--items', '3'], '--items needs a batch. Name it with --until-batch.'],
  [
    ['--until-batch', 'b', '--items', '3', '--status', 'completed'],
    'clock advance accepts --status or --items, not both. Without either, time passes until the batch is terminal.',
  ],
  [['--steps', '0'], '--steps: "0" is not a count. Give a whole number from 1.'],
  [
    ['--to', 'noon'],
    '--to: "noon" is not an instant. Give an ISO 8601 date-time, such as 2026-03-01T12:00:00Z.',
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
        description: 'Attempt 1 to deliver x succeeded.',
        webhook: { url: 'u', attempt: 1, status: 200, ms: 12 },
      },
      {
        at,
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
  const { url } = await fakeControl({ ...RESULT, events: [{ at: START, description: 'a\u001b[2Jb\nc' }] })
  const { out } = await command(['clock', 'advance', '24h', '--url', url])
  expect(out.split('\n')[1]).toBe(`  ${START}  a\\u001b[2Jb\\nc`)
})

test('an advance waits for items of a batch, then for its end, and refuses an earlier status', async () => {
  const { emulator, run } = await running({ fixtures: 'demo' })
  const created = await fetch(`${emulator.baseUrl}/batch-predictions`, {
    method: 'POST',
    headers: { authorization: 'Bearer live_demo_owner', 'content-type': 'application/json' },
    body: JSON.stringify({
      prompt: 'Read the total.',
      output_schema: { type: 'object', properties: { total: { type: 'number' } } },
      model: 'any-model',
      items: [
        { file_id: 'file-invoice-1', custom_id: 'first' },
        { file_id: 'file-invoice-2', custom_id: 'second' },
      ],
    }),
  })
  const { id } = (await created.json()) as { id: string }
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
