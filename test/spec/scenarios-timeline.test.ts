import { expect, test } from 'vitest'
import type { ScenarioCommand } from '../../src/core/scenarios/source.ts'
import { createBatch, retrieve } from '../support/batches.ts'
import { keptLogger } from '../support/kept-logger.ts'
import type { TestScenario } from '../support/memory-scenarios.ts'
import { asking, putNinth } from '../support/scenario-emulator.ts'
import { faultsOf, started } from '../support/started-scenario.ts'

const at = (minutes: number) => new Date(Date.UTC(2026, 2, 1, 12, minutes)).toISOString()
const rule = { id: 'r', match: { operation: 'pages.create' }, do: [{ respond: { status: 503 } }] }

type Do = NonNullable<TestScenario['timeline']>[number]['do']

/** A scenario whose batches stay in progress, with one step after ten minutes. */
const step = (what: Do, more: TestScenario = {}): TestScenario => ({
  pace: { in_progress: 'hold' },
  timeline: [{ at: '10m', do: what }],
  ...more,
})

const kindsOf = (events: readonly { kind: string }[]) => events.map(({ kind }) => kind)

test('a step of actions changes batches, records, rules and clock at its instant; its rules end with the scenario', async () => {
  const records = [{ id: 'org-9', name: 'Ninth' }]
  const actions = [
    { state: { id: 'latest', batch: 'fail' } },
    { state: { insert_rows: { collection: 'organizations', records } } },
    { state: { delete: { collection: 'files', id: 'file-pdf' } } },
    { arm: rule },
    { clear: 'first' },
    { clock: { freeze: true } },
  ]
  const emulator = await started(step(actions, { clock: { rate: 1 }, faults: [{ ...rule, id: 'first' }] }))
  const { id } = await createBatch(emulator)
  const { events, failed } = await emulator.pass('10m')
  expect(failed).toEqual([])
  const description = 'Step 0 of the scenario s, 10m after its start: 6 actions.'
  const ran = { at: at(10), kind: 'scenario.step', ref: 'scenario/s/0', description, caused_by: 'scenario/s' }
  expect(events).toContainEqual(ran)
  expect((await retrieve(emulator, id)).failed_at).toBe(at(10))
  expect([emulator.state('organizations').at(-1)?.id, emulator.state('files')]).toEqual(['org-9', []])
  expect(await faultsOf(emulator)).toMatchObject([{ id: 'r', source: 'scenario:s' }])
  expect((await emulator.control('GET', '/clock')).body.rate).toBe(0)
  await emulator.stop()
  expect(await faultsOf(emulator)).toEqual([])
})

test('a failed action undoes only its step, and the result has the reason', async () => {
  const emulator = await started({
    timeline: [
      { at: '10m', do: [{ arm: rule }, { clear: 'nothing' }] },
      { at: '20m', do: [{ arm: { ...rule, id: 'later' } }] },
    ],
  })
  const before = emulator.records()
  const { failed } = await emulator.pass('1h')
  const message = 'Action 1 of step 0 of the scenario s: There is no fault rule "nothing".'
  expect(failed).toMatchObject([{ at: at(10), ref: 'scenario/s/0', error: expect.stringContaining(message) }])
  expect(await faultsOf(emulator)).toMatchObject([{ id: 'later' }])
  expect(emulator.records()).toBe(before)
  expect((await emulator.active()).last_error).toMatchObject({ at: at(10), ref: 'scenario/s/0' })
  await emulator.start('s')
  expect((await emulator.active()).last_error).toBe(null)
})

test('a function is called at the instant of its step with the sandbox at that time, and time waits for its commands', async () => {
  const seen: object[] = []
  const emulator = await started(
    step(async ({ now, collections, state, records }) => {
      const [batch = {}] = records()
      seen.push({ now, collections, files: state('files'), batch })
      await new Promise<void>((resolve) => setImmediate(resolve))
      return records().map(({ id }) => ({ kind: 'move', id: String(id), move: 'fail', body: {} }))
    }),
  )
  const { id } = await createBatch(emulator)
  await emulator.pass('9m')
  const [batch, files] = [await retrieve(emulator, id), emulator.state('files')]
  const { events } = await emulator.pass('1h')
  expect(seen).toEqual([{ now: at(10), collections: expect.arrayContaining(['files']), files, batch }])
  expect((await retrieve(emulator, id)).failed_at).toBe(at(10))
  expect(kindsOf(events)).toEqual(['scenario.step', 'scenario.call'])
  expect(events.at(-1)).toMatchObject({
    at: at(10),
    ref: 'scenario/s/0',
    description: 'The function of step 0 of the scenario s was called and returned 1 command.',
  })
})

test('the commands of a function run in order', async () => {
  const { said, logger } = keptLogger('info')
  const emulator = await started(
    step(
      asking(
        { kind: 'log', text: 'hello' },
        putNinth,
        { kind: 'put', collection: 'organizations', record: { id: 'org-9', name: 'Again' } },
        { kind: 'delete', collection: 'files', id: 'file-pdf' },
        { kind: 'arm', rule },
        { kind: 'arm', rule: { ...rule, id: 'r2' } },
        { kind: 'clear', id: 'r' },
      ),
    ),
    { logger },
  )
  await emulator.pass('10m')
  expect(emulator.state('organizations').at(-1)).toEqual({ id: 'org-9', name: 'Again' })
  expect(emulator.state('files')).toEqual([])
  expect(await faultsOf(emulator)).toMatchObject([{ id: 'r2', source: 'scenario:s' }])
  expect(said).toEqual(['The scenario s of the sandbox default: hello'])
})

test('clear without an id removes only the rules of the scenario', async () => {
  const emulator = await started(step(asking({ kind: 'clear' }), { faults: [rule] }))
  await emulator.control('POST', '/faults', { ...rule, id: 'mine' })
  await emulator.pass('10m')
  expect(await faultsOf(emulator)).toMatchObject([{ id: 'mine' }])
})

test('a function can move and change batches like the control interface', async () => {
  const emulator = await started(
    step(({ records }) => {
      const [a = '', b = '', c = ''] = records().map(({ id }) => String(id))
      return [
        { kind: 'move', id: a, move: 'fail', body: { detail: 'Because.' } },
        { kind: 'move', id: b, move: 'complete', body: {} },
        { kind: 'move', id: b, move: 'cleanup', body: {} },
        { kind: 'move', id: c, move: 'change', body: { pace: { in_progress: '1m' } } },
      ]
    }),
  )
  const ids: string[] = []
  for (let n = 0; n < 3; n++) ids.push((await createBatch(emulator)).id)
  await emulator.pass('10m')
  expect(await Promise.all(ids.map((id) => retrieve(emulator, id)))).toMatchObject([
    { status: 'failed', error: { detail: expect.stringContaining('Because.') } },
    { status: 'completed', results_url: null },
    { status: 'in_progress' },
  ])
  await emulator.pass('2m')
  expect((await retrieve(emulator, ids[2] ?? '')).status).toBe('completed')
})

const failing = (body: object) => ({ kind: 'move', id: 'b', move: 'fail', body }) as ScenarioCommand
const putting = (collection: string): ScenarioCommand => ({ kind: 'put', collection, record: { id: 'x' } })
const deleting = (collection: string, id: string): ScenarioCommand => ({ kind: 'delete', collection, id })

const fail = () => {
  throw new Error('/scenarios/s.ts:7: no such thing')
}

/** A function that returns good commands and a bad one. */
const after = (bad: ScenarioCommand) =>
  asking(putNinth, { kind: 'arm', rule }, { kind: 'log', text: 'unsaid' }, bad)

test.for<[title: string, what: Do, error: string]>([
  ['an unknown batch', after(failing({})), 'Command 4 (move): There is no batch'],
  ['an unknown move', after({ ...failing({}), move: 'stop' } as ScenarioCommand), 'have no move "stop"'],
  ['a move with a wrong body', after(failing({ detial: 1 })), '/detial'],
  ['a wrong rule', after({ kind: 'arm', rule: { preset: 'rate-limitd' } }), 'Command 4 (arm): /preset'],
  ['an unknown rule', after({ kind: 'clear', id: 'rr' }), 'Did you mean "r"?'],
  ['an unknown collection', after(putting('organisations')), '"organizations"?'],
  ['a wrong record', after(putting('files')), 'Command 4 (put): /'],
  ['a record that others need', after(deleting('teamspaces', 'ts-a')), 'is needed by'],
  ['a record that is not there', after(deleting('files', 'none')), 'There is no file'],
  ['an exception', fail, '/scenarios/s.ts:7: no such thing'],
])(
  'with %s no command of a call is run, the failure is reported, and time continues',
  async ([, what, error]) => {
    const { said, logger } = keptLogger('info', 'warn')
    const emulator = await started(step(what), { logger })
    const before = emulator.records()
    const { to, failed, events } = await emulator.pass('1h')
    expect([to, emulator.records(), await faultsOf(emulator)]).toEqual([at(60), before, []])
    const [{ error: message }] = failed
    expect(failed).toMatchObject([{ at: at(10), kind: 'scenario.call', ref: 'scenario/s/0' }])
    expect(message).toMatch(/^\/scenarios\/s\.ts:/)
    expect(message).toContain(error)
    expect(kindsOf(events)).toEqual(['scenario.step'])
    expect((await emulator.active()).last_error).toEqual({ at: at(10), ref: 'scenario/s/0', message })
    expect(said).toEqual([`The scenario s of the sandbox default: scenario/s/0: ${message}`])
    const entry = { id: 'scenario.call:scenario/s/0', error: message }
    expect(emulator.sandbox.document()).toMatchObject({ scenario_calls: [], failed: [entry] })
  },
)

test('the commands of a call that ends after the scenario was stopped are dropped', async () => {
  let go: (commands: readonly ScenarioCommand[]) => void = () => {}
  const call = () =>
    new Promise<readonly ScenarioCommand[]>((resolve) => {
      go = resolve
    })
  const emulator = await started({ timeline: [{ at: '0s', do: call }] })
  expect((await emulator.active()).pending_calls).toBe(1)
  await emulator.stop()
  const before = emulator.digest()
  go([putNinth])
  await emulator.pass('0s')
  expect(emulator.digest()).toBe(before)
})
