import fc from 'fast-check'
import { expect, test } from 'vitest'
import { change, setSettings } from '../../../src/core/sandboxes/change.ts'
import { type TestEmulator, type TestEmulatorOptions, testEmulator } from '../../support/emulator.ts'
import { pointersOf, refused } from '../../support/refusal.ts'

const CREATED = '2026-01-15T08:00:00.000Z'
const NOW = '2026-03-01T12:00:00.000Z'

function aTrigger(id: string, changes: object = {}, agent_id = 'a1') {
  return {
    ...{ object: 'event_trigger', id, enabled: true, name: 'New files', description: 'Looks at new files' },
    ...{ trigger_source: 'file_sharing', trigger_event: 'File:created' },
    ...{ run_conditions: 'only PDFs', created_at: CREATED, updated_at: CREATED, warnings: [] },
    ...changes,
    _emulator: { agent_id },
  }
}

/** The trigger `t1` of agent `a1` with `changes`, one trigger of another agent and one of another teamspace. */
function triggerEmulator(changes = {}, options: TestEmulatorOptions = {}): Promise<TestEmulator> {
  const agents = [
    { id: 'a1', _emulator: { teamspace_id: 'ts-a' } },
    { id: 'a2', _emulator: { teamspace_id: 'ts-a' } },
    { id: 'a9', _emulator: { teamspace_id: 'ts-b' } },
  ]
  const event_triggers = [aTrigger('t1', changes), aTrigger('t2', {}, 'a2'), aTrigger('t9', {}, 'a9')]
  return testEmulator({ ...options, collections: { agents, event_triggers } })
}

const at = '/agents/a1/event-triggers'
const t1 = `${at}/t1`

/** Asserts that an update is refused because of some of its fields. */
async function refusedAt(emulator: TestEmulator, body: unknown, ...pointers: readonly string[]) {
  const response = await refused(emulator, () => emulator.patch(t1, body), 400, 'validation_failed')
  expect(pointersOf(response).sort()).toEqual(pointers)
  return response
}

test('an update responds with the whole trigger', { tags: ['R067', 'R071', 'R074', 'R196'] }, async () => {
  const emulator = await triggerEmulator()
  emulator.advance('90s')
  const { status, body } = await emulator.patch(t1, { name: 'Renamed' })
  const { _emulator: _, ...shown } = aTrigger('t1')
  expect(status).toBe(200)
  expect(body).toEqual({ ...shown, name: 'Renamed', updated_at: '2026-03-01T12:01:30.000Z' })
})

const values: Readonly<Record<string, unknown>> = {
  enabled: false,
  trigger_event: 'Folder:moved',
  name: null,
  description: 'Other',
  run_conditions: null,
  response_thread: 'create_new_thread_each_time',
}

test('an update changes exactly the given fields and updated_at', { tags: ['R068', 'R188'] }, async () => {
  const emulator = await triggerEmulator()
  const original = emulator.state('event_triggers')[0]
  const property = fc.asyncProperty(fc.subarray(Object.keys(values), { minLength: 1 }), async (supplied) => {
    change(emulator.sandbox, ({ tx }) => tx.put('event_triggers', original))
    const changes = Object.fromEntries(supplied.map((key) => [key, values[key]]))
    const { body } = await emulator.patch(t1, changes)
    expect(body).toEqual({ ...original, ...changes, updated_at: NOW, _emulator: undefined })
    expect(emulator.state('event_triggers')[0]._emulator).toEqual(original._emulator)
  })
  await fc.assert(property, { numRuns: 30 })
})

test.for([{ unknown: 1 }, { id: 'x', object: 'y', warnings: [{}], created_at: 'z' }])(
  'an update with %j names no field that can change, and is refused by a setting (U016)',
  { tags: ['R188'] },
  async (body) => {
    const emulator = await triggerEmulator()
    const before = emulator.digest()
    const response = await emulator.patch(t1, body)
    expect([response.status, response.body.updated_at, emulator.digest()]).toEqual([200, CREATED, before])
    await refusedAt(await triggerEmulator({}, { settings: { 'patch.empty': 'reject' } }), body, '')
  },
)

const rows = (field: string, values: readonly unknown[]) => values.map((value) => [field, value] as const)

test.for([
  ...rows('trigger_event', ['File:created', 'a:b', 'Übung:geändert', 'x:'.padEnd(255, 'y')]),
  ...rows('trigger_event', [`x:${'\u{1F600}'.repeat(253)}`]),
  ...rows('name', ['\u{1F600}'.repeat(255), '', null]),
  ...rows('description', ['\u{1F600}'.repeat(1000), '', null]),
  ...rows('run_conditions', ['\u{1F600}'.repeat(3000), '', null]),
  ...rows('trigger_source', ['file_sharing']),
])(
  '%s may be %j',
  { tags: ['R069', 'R070', 'R071', 'R190', 'R191', 'R192', 'R193', 'R284'] },
  async ([field, value]) => {
    const emulator = await triggerEmulator()
    const { status, body } = await emulator.patch(t1, { enabled: false, [field]: value })
    expect([status, body.enabled, body[field]]).toEqual([200, false, value])
  },
)

test.for([
  ...rows('enabled', ['true', 1, null, []]),
  ...rows('trigger_event', ['abc', ':x', 'x:', ':', '', 'a:b:c', 'a::b', null, 1, 'x:'.padEnd(256, 'y')]),
  ...rows('name', ['x'.repeat(256), 1]),
  ...rows('description', ['x'.repeat(1001), 1]),
  ...rows('run_conditions', ['x'.repeat(3001), 1]),
  ...rows('response_thread', [null, 'reuse', '', true]),
])(
  '%s cannot be %j',
  { tags: ['R189', 'R190', 'R191', 'R192', 'R193', 'R194', 'R284'] },
  async ([field, value]) => {
    await refusedAt(await triggerEmulator(), { [field]: value }, `/${field}`)
  },
)

test('a setting lists the known events', { tags: ['R190', 'U061'] }, async () => {
  const settings = { 'names.trigger_events': ['File:created', 'File:moved'] }
  const emulator = await triggerEmulator({}, { settings })
  expect((await emulator.patch(t1, { trigger_event: 'File:moved' })).status).toBe(200)
  await refusedAt(emulator, { trigger_event: 'File:deleted' }, '/trigger_event')
})

test('no update removes response_thread (T31)', { tags: ['R194'] }, async () => {
  const emulator = await triggerEmulator()
  expect((await emulator.patch(t1, { enabled: true })).body).not.toHaveProperty('response_thread')
  await emulator.patch(t1, { response_thread: 'create_new_thread_each_time' })
  const { body } = await (await emulator.restart()).patch(t1, { name: 'x' })
  expect(body.response_thread).toBe('create_new_thread_each_time')
})

test.for(['construction_management', 'elsewhere', '', null, 1])(
  'the source cannot become %j',
  { tags: ['R069', 'R195'] },
  async (trigger_source) => {
    const emulator = await triggerEmulator()
    const { body } = await refusedAt(emulator, { name: 'x', trigger_source }, '/trigger_source')
    expect(body.message).toContain('delete the trigger and create another')
  },
)

test('a setting ignores another source and changes the rest', { tags: ['R069', 'R195'] }, async () => {
  const emulator = await triggerEmulator({}, { settings: { 'patch.immutable': 'ignore' } })
  const { status, body } = await emulator.patch(t1, { trigger_source: 'construction_management', name: 'x' })
  expect([status, body.name, body.trigger_source]).toEqual([200, 'x', 'file_sharing'])
})

test('a warning does not fail the update, and can be removed', { tags: ['R075', 'R196'] }, async () => {
  const gap = { code: 'connection_missing', message: 'Connect the provider first.' }
  const emulator = await triggerEmulator({ warnings: [gap] })
  const { status, body } = await emulator.patch(t1, { enabled: true })
  expect([status, body.warnings]).toEqual([200, [gap]])
  const [trigger] = emulator.state('event_triggers')
  change(emulator.sandbox, ({ tx }) => tx.put('event_triggers', { ...trigger, warnings: [] }))
  expect((await emulator.patch(t1, { enabled: true })).body.warnings).toEqual([])
})

test('one invalid field refuses an update, and each of them is named', { tags: ['R197'] }, async () => {
  const bad = { name: 'good', run_conditions: 'x'.repeat(3001), enabled: 'yes' }
  await refusedAt(await triggerEmulator(), bad, '/enabled', '/run_conditions')
})

test.for([
  '/agents/a1/event-triggers/t2',
  '/agents/a9/event-triggers/t9',
  '/agents/a0/event-triggers/t1',
  `${at}/t0`,
])(
  'a trigger is only found below its own agent, in its own teamspace: not at %s',
  { tags: ['R188', 'R229'] },
  async (path) => {
    const emulator = await triggerEmulator()
    await refused(emulator, () => emulator.patch(path, { name: 1 }), 404)
    await refused(emulator, () => emulator.delete(path), 404)
  },
)

test.for<[title: string, change: object, pointer: string]>([
  ['another object', { object: 'trigger' }, '/object'],
  ['a source outside the three', { trigger_source: 'carrier_pigeon' }, '/trigger_source'],
  ['an event without a colon', { trigger_event: 'abc' }, '/trigger_event'],
  ['another response_thread', { response_thread: 'one' }, '/response_thread'],
  ['a warning without its code', { warnings: [{ message: 'x' }] }, '/warnings/0/code'],
])(
  '%s is refused in a fixture',
  { tags: ['R067', 'R069', 'R070', 'R194', 'R075', 'R284'] },
  async ([, change, pointer]) => {
    await expect(triggerEmulator(change)).rejects.toThrow(`/collections/event_triggers/0${pointer}`)
  },
)

test('a setting names the three sources, also in older records', { tags: ['R069', 'U008'] }, async () => {
  const settings = { 'names.trigger_sources': ['builder', 'papers', 'drive'] }
  const emulator = await triggerEmulator({ trigger_source: 'drive' }, { settings })
  expect((await emulator.patch(t1, { trigger_source: 'drive' })).body.trigger_source).toBe('drive')
  await refusedAt(emulator, { trigger_source: 'file_sharing' }, '/trigger_source')
  expect((await emulator.get('/agents/a2/event-triggers')).body.data[0].trigger_source).toBe('drive')
  const made = await emulator.post(at, { trigger_source: 'papers', trigger_event: 'a:b' })
  expect(made.body.trigger_source).toBe('papers')
  setSettings(emulator.sandbox, {})
  const { body } = await (await emulator.restart()).get(at)
  const sources = body.data.map((each: { trigger_source: string }) => each.trigger_source)
  expect(sources.sort()).toEqual(['document_collaboration', 'file_sharing'])
})

test('a created trigger has the given fields and defaults for the others', {
  tags: ['R069', 'R070', 'R190', 'R223', 'R284'],
}, async () => {
  const emulator = await triggerEmulator()
  const wrong = { trigger_source: 'x', trigger_event: 'a', name: 'x'.repeat(256) }
  for (const [body, pointers] of [
    [{}, ['/trigger_event', '/trigger_source']],
    [wrong, ['/name', '/trigger_event', '/trigger_source']],
  ] as const)
    expect(pointersOf(await refused(emulator, () => emulator.post(at, body), 400)).sort()).toEqual(pointers)
  const given = { trigger_source: 'construction_management', trigger_event: 'Drawing:revised', name: 'D' }
  const { status, body } = await emulator.post(at, { ...given, warnings: [1], id: 'mine' })
  expect(status).toBe(200)
  expect(body).toEqual({
    ...{ object: 'event_trigger', id: expect.stringMatching(/^[0-9a-f]{24}$/), enabled: true, ...given },
    ...{ description: null, run_conditions: null, created_at: NOW, updated_at: NOW, warnings: [] },
  })
  const data = [body, expect.objectContaining({ id: 't1' })]
  expect((await emulator.get(at)).body).toEqual({ object: 'list', data, has_more: false })
})

test('deleting a trigger removes it', { tags: ['R223'] }, async () => {
  const emulator = await triggerEmulator()
  const { status, text } = await emulator.delete(t1)
  expect([status, text]).toEqual([204, ''])
  expect((await emulator.get(at)).body.data).toEqual([])
  await refused(emulator, () => emulator.delete(t1), 404)
})
