import { expect, test } from 'vitest'
import { baseCollections } from '../support/base-state.ts'
import type { CallControl } from '../support/control.ts'
import { alive, dataFolder, killedData, type Life } from '../support/data-folder.ts'
import { testEmulator } from '../support/emulator.ts'
import { send } from '../support/send.ts'
import { arm } from '../support/state-faults.ts'

const match = { operation: 'data-views.list' }
const second = { id: 'second', match, when: { nth: 2, by: 'tag' }, do: [{ respond: { status: 503 } }] }

type Json = Record<string, unknown>

async function standing(control: CallControl) {
  const { data } = (await control('GET', '/faults')).body
  return data.map(({ id, matched, fired, counters }: Json) => ({ id, matched, fired, counters }))
}

const get = async (life: Life): Promise<number> =>
  (await send(life, 'GET', '/v1/data-views', { headers: { 'x-emulator-tag': 'a' } })).status

test('rules and counters survive a restart, and a kill before the first checkpoint', async () => {
  const data = dataFolder()
  const first = await alive(data, { fixtures: { collections: baseCollections as never } })
  await first.control('POST', '/faults', [second, { ...second, id: 'gone' }])
  expect(await get(first)).toBe(200)
  await first.control('DELETE', '/faults/gone')
  const stood = await standing(first.control)
  expect(stood).toMatchObject([{ id: 'second', matched: 1, fired: 0, counters: [{ key: 'a', matched: 1 }] }])
  const killed = killedData(data)
  await first.emulator.close()
  for (const folder of [killed, data]) {
    const life = await alive(folder)
    expect(await standing(life.control)).toEqual(stood)
    expect([await get(life), await get(life)]).toEqual([503, 200])
    await life.emulator.close()
  }
})

/** A sandbox with the rule, which a request has matched. */
async function counted() {
  const emulator = await testEmulator()
  await arm(emulator, second)
  await emulator.get('/data-views', { headers: { 'x-emulator-tag': 'a' } })
  return emulator
}

test.for<[what: string, from: string, to: string, pointer: string, detail: RegExp]>([
  ['an unknown operation', 'views.list', 'view.list', '/faults/0/match/operation', /"data-views.list"\?/],
  ['an unknown member', '"when":', '"wen":', '/faults/0/wen', /Did you mean "when"\?/],
  ['a rule that is none', '"faults":[', '"faults":[7,', '/faults/0', /object/],
  ['a rule that does nothing', '[{"respond":{"status":503}}]', '[]', '/faults/0/do', /at least one action/],
  ['an unknown source', '"control"', '"nobody"', '/faults/0/source', /control, header/],
  ['a counter of another id', '"key":"a"', '"key":"b"', '/fault_counters/1/id', /id of the rule/],
  ['a counter below zero', '"matched":1', '"matched":-1', '/fault_counters/0/matched', /from 0/],
  ['an id twice', 'counters":[', 'counters":[COUNTER,', '/fault_counters/1/id', /is used twice/],
])('a document with %s is refused with its pointer', async ([, from, to, pointer, detail]) => {
  const emulator = await counted()
  const before = emulator.digest()
  const document = emulator.sandbox.document()
  const counter = JSON.stringify(document.fault_counters[0])
  const text = JSON.stringify(document).replace(from, to.replace('COUNTER', counter))
  const { status, body } = await emulator.control('PUT', '/state', JSON.parse(text))
  expect(body.details.errors).toContainEqual({ pointer, detail: expect.stringMatching(detail) })
  expect([status, emulator.digest()]).toEqual([400, before])
})

test('a counter without a rule is accepted, and removed when a rule with its id is armed', async () => {
  const emulator = await counted()
  const document = JSON.parse(JSON.stringify(emulator.sandbox.document()))
  expect((await emulator.control('PUT', '/state', { ...document, faults: [] })).status).toBe(200)
  expect((await emulator.control('POST', '/faults', second)).body).toMatchObject({ matched: 0, keys: 0 })
})

test('a change of settings keeps rules that are valid under it', async () => {
  const emulator = await counted()
  expect((await emulator.control('PATCH', '/settings', { unknown_fields: 'reject' })).status).toBe(200)
  expect((await emulator.control('GET', '/faults')).body.data).toHaveLength(1)
})
