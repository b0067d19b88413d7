import { expect, test } from 'vitest'
import type { ScenarioCommand, ScenarioSnapshot } from '../../src/core/scenarios/source.ts'
import { createBatch, retrieve } from '../support/batches.ts'
import type { TestScenario } from '../support/memory-scenarios.ts'
import { asking, putNinth, scenarioEmulator } from '../support/scenario-emulator.ts'

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

test('a step of actions changes the sandbox at its instant, and is in the result', async () => {
  const emulator = await scenarioEmulator({ s: step({ state: { id: 'latest', batch: 'fail' } }) })
  await emulator.start('s')
  const { id } = await createBatch(emulator)
  const { events, failed } = await emulator.pass('1h')
  expect((await retrieve(emulator, id)).failed_at).toBe(at(10))
  expect(failed).toEqual([])
  expect(events.filter(({ kind }: { kind: string }) => kind === 'scenario.step')).toEqual([
    {
      at: at(10),
      kind: 'scenario.step',
      ref: 'scenario/s/0',
      description: 'Step 0 of the scenario s, 10m after its start: 1 action.',
      caused_by: 'scenario/s',
    },
  ])
})

test('a step of actions arms a rule that ends with the scenario, clears one, and stops the clock', async () => {
  const emulator = await scenarioEmulator({
    s: {
      clock: { rate: 1 },
      faults: [{ ...rule, id: 'first' }],
      timeline: [{ at: '10m', do: [{ arm: rule }, { clear: 'first' }, { clock: { freeze: true } }] }],
    },
  })
  await emulator.start('s')
  await emulator.pass('10m')
  const { data } = (await emulator.control('GET', '/faults')).body
  expect(data).toMatchObject([{ id: 'r', source: 'scenario:s' }])
  expect((await emulator.control('GET', '/clock')).body.rate).toBe(0)
  await emulator.stop()
  expect((await emulator.control('GET', '/faults')).body.data).toEqual([])
})

test('a step of actions inserts and deletes records', async () => {
  const records = [{ id: 'org-9', name: 'Ninth' }]
  const emulator = await scenarioEmulator({
    s: step(
      { state: { insert_rows: { collection: 'organizations', records } } },
      { state: { delete: { collection: 'files', id: 'file-pdf' } } },
    ),
  })
  await emulator.start('s')
  await emulator.pass('10m')
  expect(emulator.state('organizations').map(({ id }) => id)).toContain('org-9')
  expect(emulator.state('files')).toEqual([])
})

test('a failed action undoes only its step, and the result has the reason', async () => {
  const emulator = await scenarioEmulator({
    s: {
      timeline: [
        { at: '10m', do: [{ arm: rule }, { clear: 'nothing' }] },
        { at: '20m', do: [{ arm: { ...rule, id: 'later' } }] },
      ],
    },
  })
  await emulator.start('s')
  const before = emulator.records()
  const { failed } = await emulator.pass('1h')
  const error = 'Action 1 of step 0 of the scenario s: There is no fault rule "nothing". Did you mean "r"?'
  expect(failed).toMatchObject([
    { at: at(10), ref: 'scenario/s/0', error: expect.stringContaining('Action 1 of step 0') },
  ])
  expect(error.startsWith(failed[0].error.slice(0, 80))).toBe(true)
  expect((await emulator.control('GET', '/faults')).body.data).toMatchObject([{ id: 'later' }])
  expect(emulator.records()).toBe(before)
  expect((await emulator.active()).last_error).toEqual({
    at: at(10),
    ref: 'scenario/s/0',
    message: failed[0].error,
  })
  await emulator.start('s')
  expect((await emulator.active()).last_error).toBe(null)
})

test('a function is called at the instant of its step, and time waits for its commands', async () => {
  const seen: ScenarioSnapshot[] = []
  const emulator = await scenarioEmulator({
    s: {
      ...held,
      timeline: [
        {
          at: '10m',
          do: async (snapshot) => {
            seen.push(snapshot)
            await new Promise<void>((resolve) => setImmediate(resolve))
            return snapshot
              .records()
              .map(({ id }) => ({ kind: 'move', id: String(id), move: 'fail', body: {} }))
          },
        },
      ],
    },
  })
  await emulator.start('s')
  const { id } = await createBatch(emulator)
  const { events } = await emulator.pass('1h')
  expect(seen).toHaveLength(1)
  expect(seen[0]).toMatchObject({ now: at(10) })
  expect(seen[0]?.event).toBeUndefined()
  expect(seen[0]?.collections).toContain('files')
  expect((await retrieve(emulator, id)).failed_at).toBe(at(10))
  const kinds = events.map(({ kind }: { kind: string }) => kind)
  expect(kinds).toEqual(['batch.start', 'scenario.step', 'scenario.call'])
  expect(events.at(-1)).toMatchObject({
    at: at(10),
    ref: 'scenario/s/0',
    description: 'The function of step 0 of the scenario s was called and returned 1 command.',
  })
})

test('a function gets the sandbox at the instant of its call, with batches as in the API', async () => {
  const seen: unknown[] = []
  const emulator = await scenarioEmulator({
    s: {
      ...held,
      timeline: [
        {
          at: '10m',
          do: (snapshot) => {
            seen.push(snapshot.records()[0], snapshot.state('files'))
            return []
          },
        },
      ],
    },
  })
  await emulator.start('s')
  const { id } = await createBatch(emulator)
  await emulator.pass('10m')
  expect(seen).toEqual([await retrieve(emulator, id), emulator.state('files')])
})

test('the commands of a function run in order', async () => {
  const emulator = await scenarioEmulator({
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
  await emulator.start('s')
  await emulator.pass('10m')
  expect(emulator.state('organizations').at(-1)).toEqual({ id: 'org-9', name: 'Again' })
  expect(emulator.state('files')).toEqual([])
  expect((await emulator.control('GET', '/faults')).body.data).toMatchObject([
    { id: 'r2', source: 'scenario:s' },
  ])
})

test('clear without an id removes only the rules of the scenario', async () => {
  const emulator = await scenarioEmulator({ s: { ...calling({ kind: 'clear' }), faults: [rule] } })
  await emulator.control('POST', '/faults', { ...rule, id: 'mine' })
  await emulator.start('s')
  await emulator.pass('10m')
  expect((await emulator.control('GET', '/faults')).body.data).toMatchObject([{ id: 'mine' }])
})

test('a function can move and change batches like the control interface', async () => {
  const batch = (move: 'fail' | 'complete' | 'expire' | 'cleanup' | 'change', body: object, id: string) =>
    ({ kind: 'move', id, move, body }) as ScenarioCommand
  const emulator = await scenarioEmulator({
    s: {
      ...held,
      timeline: [
        {
          at: '10m',
          do: ({ records }) => {
            const [a = '', b = '', c = '', d = ''] = records().map(({ id }) => String(id))
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
  await emulator.start('s')
  const ids: string[] = []
  for (let n = 0; n < 4; n++) ids.push((await createBatch(emulator)).id)
  await emulator.pass('10m')
  const shown = await Promise.all(ids.map((id) => retrieve(emulator, id)))
  expect(shown.map(({ status }) => status)).toEqual(['failed', 'completed', 'expired', 'in_progress'])
  expect(shown[0].error.detail).toContain('Because.')
  expect(shown[1].results_url).toBe(null)
  await emulator.pass('2m')
  expect((await retrieve(emulator, ids[3] ?? '')).status).toBe('completed')
})

test.for<[title: string, bad: ScenarioCommand, description: string]>([
  [
    'an unknown batch',
    { kind: 'move', id: 'b', move: 'fail', body: {} },
    'Command 3 (move): There is no batch',
  ],
  ['a move with a wrong body', { kind: 'move', id: 'b', move: 'fail', body: { detial: 1 } }, '/detial'],
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
])('with %s no command of a call is run, and the failure is reported', async ([, bad, description]) => {
  const said: string[] = []
  const logger = { info: () => {}, warn: (message: string) => said.push(message), error: () => {} }
  const emulator = await scenarioEmulator({ s: calling(putNinth, { kind: 'arm', rule }, bad) }, { logger })
  await emulator.start('s')
  const before = emulator.records()
  const { failed, events } = await emulator.pass('1h')
  expect(emulator.records()).toBe(before)
  expect((await emulator.control('GET', '/faults')).body.data).toEqual([])
  expect(failed).toMatchObject([{ at: at(10), kind: 'scenario.call', ref: 'scenario/s/0' }])
  expect(failed[0].error).toMatch(/^\/scenarios\/s\.ts: /)
  expect(failed[0].error).toContain(description)
  expect(events.map(({ kind }: { kind: string }) => kind)).toEqual(['scenario.step'])
  expect((await emulator.active()).last_error).toEqual({
    at: at(10),
    ref: 'scenario/s/0',
    message: failed[0].error,
  })
  expect(said).toEqual([`The scenario s of the sandbox default: scenario/s/0: ${failed[0].error}`])
})

test('a function that throws changes nothing and is reported by file and line, and time continues', async () => {
  const fail = () => {
    throw new Error('/scenarios/s.ts:7: no such thing')
  }
  const emulator = await scenarioEmulator({
    s: {
      timeline: [
        { at: '10m', do: fail },
        { at: '20m', do: asking(putNinth) },
      ],
    },
  })
  await emulator.start('s')
  const { to, failed } = await emulator.pass('1h')
  expect(to).toBe(at(60))
  expect(failed).toMatchObject([{ error: '/scenarios/s.ts:7: no such thing' }])
  expect(emulator.state('organizations').at(-1)).toMatchObject({ id: 'org-9' })
  expect(emulator.sandbox.document()).toMatchObject({
    scenario_calls: [],
    failed: [{ id: 'scenario.call:scenario/s/0', error: '/scenarios/s.ts:7: no such thing' }],
  })
})

test('log commands of a function are logged only if its other commands succeed', async () => {
  const said: string[] = []
  const logger = { info: (message: string) => said.push(message), warn: () => {}, error: () => {} }
  const hello: ScenarioCommand = { kind: 'log', text: 'hello' }
  const unsaid: ScenarioCommand = { kind: 'log', text: 'unsaid' }
  const emulator = await scenarioEmulator(
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
  await emulator.start('s')
  await emulator.pass('1h')
  expect(said).toEqual(['The scenario s of the sandbox default: hello'])
})

test('a step at 0s runs at once', async () => {
  const emulator = await scenarioEmulator({ s: { timeline: [{ at: '0s', do: [{ arm: rule }] }] } })
  await emulator.start('s')
  expect((await emulator.post('/pages', { name: 'x' })).status).toBe(503)
})

test('the commands of a call that ends after the scenario was stopped are dropped', async () => {
  let go: () => void = () => {}
  const emulator = await scenarioEmulator({
    s: {
      timeline: [
        {
          at: '0s',
          do: async () => {
            await new Promise<void>((resolve) => {
              go = resolve
            })
            return [putNinth]
          },
        },
      ],
    },
  })
  await emulator.start('s')
  expect((await emulator.active()).pending_calls).toBe(1)
  await emulator.stop()
  const before = emulator.digest()
  go()
  await emulator.pass('0s')
  expect(emulator.digest()).toBe(before)
  expect(emulator.state('organizations').map(({ id }) => id)).not.toContain('org-9')
})
