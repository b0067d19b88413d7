import { expect, test } from 'vitest'
import type { ScenarioCommand, ScenarioSnapshot } from '../../src/kernel/scenario/commands.ts'
import { createBatch, retrieve } from '../support/batches.ts'
import type { TestScenario } from '../support/memory-scenarios.ts'
import { asking, scenarioWorld } from '../support/scenario-world.ts'

const at = (minutes: number) => new Date(Date.UTC(2026, 2, 1, 12, minutes)).toISOString()
const held = { pace: { in_progress: 'hold' } } as const
const rule = { id: 'r', match: { operation: 'pages.create' }, do: [{ respond: { status: 503 } }] }

const step = (...actions: readonly object[]): TestScenario => ({
  ...held,
  timeline: [{ at: '10m', do: actions }],
})
const calling = (...commands: readonly ScenarioCommand[]): TestScenario => ({
  ...held,
  timeline: [{ at: '10m', do: asking(...commands) }],
})

test('a step as data moves the world at its instant, and is in the receipt', async () => {
  const world = await scenarioWorld({ s: step({ state: { id: 'latest', batch: 'fail' } }) })
  await world.start('s')
  const { id } = await createBatch(world)
  const { events, parked } = await world.pass('1h')
  expect((await retrieve(world, id)).failed_at).toBe(at(10))
  expect(parked).toEqual([])
  expect(events.filter(({ kind }: { kind: string }) => kind === 'scenario.step')).toEqual([
    {
      at: at(10),
      kind: 'scenario.step',
      ref: 'scenario/s/0',
      says: 'Step 0 of the scenario s, 10m after its start: 1 action.',
      caused_by: 'scenario/s',
    },
  ])
})

test('a step as data arms a rule that goes with the scenario, clears one, and stops the clock', async () => {
  const world = await scenarioWorld({
    s: {
      clock: { rate: 1 },
      faults: [{ ...rule, id: 'first' }],
      timeline: [{ at: '10m', do: [{ arm: rule }, { clear: 'first' }, { clock: { freeze: true } }] }],
    },
  })
  await world.start('s')
  await world.pass('10m')
  const { data } = (await world.control('GET', '/faults')).body
  expect(data).toMatchObject([{ id: 'r', source: 'scenario:s' }])
  expect((await world.control('GET', '/clock')).body.rate).toBe(0)
  await world.stop()
  expect((await world.control('GET', '/faults')).body.data).toEqual([])
})

test('a step as data puts records in and takes them out', async () => {
  const records = [{ id: 'org-9', name: 'Ninth' }]
  const world = await scenarioWorld({
    s: step(
      { state: { insert_rows: { collection: 'organizations', records } } },
      { state: { delete: { collection: 'files', id: 'file-pdf' } } },
    ),
  })
  await world.start('s')
  await world.pass('10m')
  expect(world.state('organizations').map(({ id }) => id)).toContain('org-9')
  expect(world.state('files')).toEqual([])
})

test('an action that fails undoes its step alone: the rest of the world goes on, and the receipt says why', async () => {
  const world = await scenarioWorld({
    s: {
      timeline: [
        { at: '10m', do: [{ arm: rule }, { clear: 'nothing' }] },
        { at: '20m', do: [{ arm: { ...rule, id: 'later' } }] },
      ],
    },
  })
  await world.start('s')
  const before = world.records()
  const { parked } = await world.pass('1h')
  const error = 'Action 1 of step 0 of the scenario s: There is no fault rule "nothing". Did you mean "r"?'
  expect(parked).toMatchObject([
    { at: at(10), ref: 'scenario/s/0', error: expect.stringContaining('Action 1 of step 0') },
  ])
  expect(error.startsWith(parked[0].error.slice(0, 80))).toBe(true)
  expect((await world.control('GET', '/faults')).body.data).toMatchObject([{ id: 'later' }])
  expect(world.records()).toBe(before)
  expect((await world.active()).last_error).toEqual({
    at: at(10),
    ref: 'scenario/s/0',
    message: parked[0].error,
  })
  await world.start('s')
  expect((await world.active()).last_error).toBe(null)
})

test('a function is called at the instant of its step, and time waits for what it asks for', async () => {
  const seen: ScenarioSnapshot[] = []
  const world = await scenarioWorld({
    s: {
      ...held,
      timeline: [
        {
          at: '10m',
          do: async (snapshot) => {
            seen.push(snapshot)
            await new Promise<void>((resolve) => setImmediate(resolve))
            return snapshot
              .batches()
              .map(({ id }) => ({ kind: 'batch', id: String(id), move: 'fail', body: {} }))
          },
        },
      ],
    },
  })
  await world.start('s')
  const { id } = await createBatch(world)
  const { events } = await world.pass('1h')
  expect(seen).toHaveLength(1)
  expect(seen[0]).toMatchObject({ now: at(10) })
  expect(seen[0]?.event).toBeUndefined()
  expect(seen[0]?.collections).toContain('files')
  expect((await retrieve(world, id)).failed_at).toBe(at(10))
  const kinds = events.map(({ kind }: { kind: string }) => kind)
  expect(kinds).toEqual(['batch.start', 'scenario.step', 'scenario.call'])
  expect(events.at(-1)).toMatchObject({
    at: at(10),
    ref: 'scenario/s/0',
    says: 'The function of step 0 of the scenario s was called and asked for 1 thing.',
  })
})

test('a function sees the world as it was when it was called, batches as the API shows them', async () => {
  const seen: unknown[] = []
  const world = await scenarioWorld({
    s: {
      ...held,
      timeline: [
        {
          at: '10m',
          do: (snapshot) => {
            seen.push(snapshot.batches()[0], snapshot.state('files'))
            return []
          },
        },
      ],
    },
  })
  await world.start('s')
  const { id } = await createBatch(world)
  await world.pass('10m')
  expect(seen).toEqual([await retrieve(world, id), world.state('files')])
})

test('what a function asks for is done in order: records, rules, moves', async () => {
  const world = await scenarioWorld({
    s: calling(
      { kind: 'put', collection: 'organizations', record: { id: 'org-9', name: 'Ninth' } },
      { kind: 'put', collection: 'organizations', record: { id: 'org-9', name: 'Again' } },
      { kind: 'delete', collection: 'files', id: 'file-pdf' },
      { kind: 'arm', rule },
      { kind: 'arm', rule: { ...rule, id: 'r2' } },
      { kind: 'clear', id: 'r' },
      { kind: 'log', text: 'done' },
    ),
  })
  await world.start('s')
  await world.pass('10m')
  expect(world.state('organizations').at(-1)).toEqual({ id: 'org-9', name: 'Again' })
  expect(world.state('files')).toEqual([])
  expect((await world.control('GET', '/faults')).body.data).toMatchObject([
    { id: 'r2', source: 'scenario:s' },
  ])
})

test('clear without an id removes what the scenario has armed, and nothing else', async () => {
  const world = await scenarioWorld({ s: { ...calling({ kind: 'clear' }), faults: [rule] } })
  await world.control('POST', '/faults', { ...rule, id: 'mine' })
  await world.start('s')
  await world.pass('10m')
  expect((await world.control('GET', '/faults')).body.data).toMatchObject([{ id: 'mine' }])
})

test('a batch is moved and changed as the control interface does it', async () => {
  const batch = (move: 'fail' | 'complete' | 'expire' | 'cleanup' | 'change', body: object, id: string) =>
    ({ kind: 'batch', id, move, body }) as ScenarioCommand
  const world = await scenarioWorld({
    s: {
      ...held,
      timeline: [
        {
          at: '10m',
          do: ({ batches }) => {
            const [a = '', b = '', c = '', d = ''] = batches().map(({ id }) => String(id))
            return [
              batch('fail', { detail: 'Because.' }, a),
              batch('complete', {}, b),
              batch('cleanup', {}, b),
              batch('expire', {}, c),
              batch('change', { pace: { in_progress: '1m' } }, d),
            ]
          },
        },
      ],
    },
  })
  await world.start('s')
  const ids: string[] = []
  for (let n = 0; n < 4; n++) ids.push((await createBatch(world)).id)
  await world.pass('10m')
  const shown = await Promise.all(ids.map((id) => retrieve(world, id)))
  expect(shown.map(({ status }) => status)).toEqual(['failed', 'completed', 'expired', 'in_progress'])
  expect(shown[0].error.detail).toContain('Because.')
  expect(shown[1].results_url).toBe(null)
  await world.pass('2m')
  expect((await retrieve(world, ids[3] ?? '')).status).toBe('completed')
})

const put: ScenarioCommand = {
  kind: 'put',
  collection: 'organizations',
  record: { id: 'org-9', name: 'Ninth' },
}

test.for<[title: string, bad: ScenarioCommand, says: string]>([
  [
    'an unknown batch',
    { kind: 'batch', id: 'b', move: 'fail', body: {} },
    'Command 3 (batch): There is no batch',
  ],
  ['a move with a wrong body', { kind: 'batch', id: 'b', move: 'fail', body: { detial: 1 } }, '/detial'],
  ['a wrong rule', { kind: 'arm', rule: { preset: 'rate-limitd' } }, 'Command 3 (arm): /preset'],
  ['an unknown rule', { kind: 'clear', id: 'rr' }, 'Did you mean "r"?'],
  [
    'an unknown collection',
    { kind: 'put', collection: 'organisations', record: { id: 'x' } },
    '"organizations"?',
  ],
  ['a wrong record', { kind: 'put', collection: 'files', record: { id: 'x' } }, 'Command 3 (put): /'],
  ['a record that others need', { kind: 'delete', collection: 'teamspaces', id: 'ts-a' }, 'is needed by'],
  ['a record that is not there', { kind: 'delete', collection: 'files', id: 'none' }, 'There is no file'],
])('with %s nothing of a call is done, and the failure is told', async ([, bad, says]) => {
  const said: string[] = []
  const logger = { info: () => {}, warn: (message: string) => said.push(message), error: () => {} }
  const world = await scenarioWorld({ s: calling(put, { kind: 'arm', rule }, bad) }, { logger })
  await world.start('s')
  const before = world.records()
  const { parked, events } = await world.pass('1h')
  expect(world.records()).toBe(before)
  expect((await world.control('GET', '/faults')).body.data).toEqual([])
  expect(parked).toMatchObject([{ at: at(10), kind: 'scenario.call', ref: 'scenario/s/0' }])
  expect(parked[0].error).toMatch(/^\/scenarios\/s\.ts: /)
  expect(parked[0].error).toContain(says)
  expect(events.map(({ kind }: { kind: string }) => kind)).toEqual(['scenario.step'])
  expect((await world.active()).last_error).toEqual({
    at: at(10),
    ref: 'scenario/s/0',
    message: parked[0].error,
  })
  expect(said).toEqual([`The scenario s of the sandbox default: scenario/s/0: ${parked[0].error}`])
})

test('a function that throws changes nothing, is told of by file and line, and time goes on', async () => {
  const fail = () => {
    throw new Error('/scenarios/s.ts:7: no such thing')
  }
  const world = await scenarioWorld({
    s: {
      timeline: [
        { at: '10m', do: fail },
        { at: '20m', do: asking(put) },
      ],
    },
  })
  await world.start('s')
  const { to, parked } = await world.pass('1h')
  expect(to).toBe(at(60))
  expect(parked).toMatchObject([{ error: '/scenarios/s.ts:7: no such thing' }])
  expect(world.state('organizations').at(-1)).toMatchObject({ id: 'org-9' })
  expect(world.sandbox.document()).toMatchObject({
    scenario_calls: [],
    parked: [{ id: 'scenario.call:scenario/s/0', error: '/scenarios/s.ts:7: no such thing' }],
  })
})

test('what functions write goes to the log, and only when the rest was done', async () => {
  const said: string[] = []
  const logger = { info: (message: string) => said.push(message), warn: () => {}, error: () => {} }
  const hello: ScenarioCommand = { kind: 'log', text: 'hello' }
  const unsaid: ScenarioCommand = { kind: 'log', text: 'unsaid' }
  const world = await scenarioWorld(
    {
      s: {
        timeline: [
          { at: '1m', do: asking(hello) },
          { at: '2m', do: asking(unsaid, { kind: 'clear', id: 'none' }) },
        ],
      },
    },
    { logger },
  )
  await world.start('s')
  await world.pass('1h')
  expect(said).toEqual(['The scenario s of the sandbox default: hello'])
})

test('a step at 0s happens at once', async () => {
  const world = await scenarioWorld({ s: { timeline: [{ at: '0s', do: [{ arm: rule }] }] } })
  await world.start('s')
  expect((await world.post('/pages', { name: 'x' })).status).toBe(503)
})

test('a call that comes back after the scenario was stopped is for nothing', async () => {
  let go: () => void = () => {}
  const world = await scenarioWorld({
    s: {
      timeline: [
        {
          at: '0s',
          do: async () => {
            await new Promise<void>((resolve) => {
              go = resolve
            })
            return [put]
          },
        },
      ],
    },
  })
  await world.start('s')
  expect((await world.active()).pending_calls).toBe(1)
  await world.stop()
  const before = world.digest()
  go()
  await world.pass('0s')
  expect(world.digest()).toBe(before)
  expect(world.state('organizations').map(({ id }) => id)).not.toContain('org-9')
})
