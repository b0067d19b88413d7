import { expect, test } from 'vitest'
import { defineEndpoint } from '../../src/endpoints/define.ts'
import { testEmulator } from '../support/emulator.ts'

const write = defineEndpoint({
  method: 'POST',
  path: '/notes',
  handle: ({ body, records }) => ({ status: 201, body: records('notes').insert(body as object) }),
})
const empty = defineEndpoint({
  method: 'DELETE',
  path: '/notes',
  handle({ records }) {
    for (const { id } of records('notes').all()) records('notes').delete(id)
    return { status: 204 }
  },
})
const endpoints = [write, empty]

test('a collection of the user is in the state document while it has records, in lists, and outlives a restart', async () => {
  const emulator = await testEmulator({ endpoints })
  const note = (await emulator.post('/notes', { text: 'a' })).body
  expect((await emulator.control('GET', '/state')).body.own).toEqual({ notes: [note] })
  const { data } = (await emulator.control('GET', '/collections')).body
  expect(data).toContainEqual({ name: 'notes', records: 1 })
  expect((await emulator.control('GET', '/state/notes')).body.data).toEqual([note])
  expect((await emulator.restart()).state('notes')).toEqual([note])
  await emulator.delete('/notes')
  expect((await emulator.control('GET', '/state')).body).not.toHaveProperty('own')
})

test('records of the user can be written and deleted from outside, if there are endpoints', async () => {
  const emulator = await testEmulator({ endpoints })
  const written = await emulator.control('PUT', '/state/notes/n1', { id: 'n1', text: 'x' })
  expect([written.status, emulator.state('notes')]).toEqual([201, [{ id: 'n1', text: 'x' }]])
  expect((await emulator.control('DELETE', '/state/notes/n1')).status).toBe(204)
  const near = await emulator.control('PUT', '/state/page/p1', { id: 'p1' })
  expect([near.status, near.body.message]).toEqual([404, expect.stringContaining('Did you mean "pages"?')])
  const without = await testEmulator()
  expect((await without.control('PUT', '/state/notes/n1', { id: 'n1' })).status).toBe(404)
})

test('fixtures can have records of the user', async () => {
  const emulator = await testEmulator({ endpoints })
  const reset = (note: object) => emulator.control('POST', '/reset', { fixtures: { own: { notes: [note] } } })
  expect((await reset({ id: 'n1', text: 'x' })).status).toBe(200)
  expect(emulator.state('notes')).toEqual([{ id: 'n1', text: 'x' }])
  const wrong = await reset({ text: 'x' })
  expect([wrong.status, wrong.text]).toEqual([400, expect.stringContaining('/own/notes/0/id')])
})

test('a collection whose name is built in by now is moved where its records fit; the rest is kept', async () => {
  const emulator = await testEmulator({ endpoints })
  const document = (await emulator.control('GET', '/state')).body
  const conversation = { id: 'c9', _emulator: { teamspace_id: 'ts-a' } }
  const own = { conversations: [conversation, { id: 'odd' }] }
  expect((await emulator.control('PUT', '/state', { ...document, own })).status).toBe(200)
  expect(emulator.state('conversations')).toMatchObject([conversation])
  expect(emulator.state('conversations-unfit')).toEqual([{ id: 'odd' }])
})
