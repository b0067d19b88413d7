import { afterAll, beforeAll, expect, test } from 'vitest'
import { type EmulatorClient, startEmulator } from '../index.ts'
import { aBatch, aBatchItem } from './batch-predictions/builders.ts'
import * as builders from './builders.ts'

const { anApiKeyRecord, aFileRecord, aSandbox, aUserRecord, aWebhook } = builders

let emulator: EmulatorClient & AsyncDisposable

beforeAll(async () => {
  emulator = await startEmulator({ port: 0, ephemeral: true, rate: 0 })
})

afterAll(() => emulator[Symbol.asyncDispose]())

const MESSAGE = '/conversations/conversation-takeoff/messages/d0000000-0000-4000-8000-000000000002'

test.for<[path: string, body: object]>([
  ['/batch-predictions', aBatch()],
  ['/batch-predictions', aBatch({ items: 5_000 })],
  ['/batch-predictions', aBatch({ items: [aBatchItem()] })],
  ['/pages', builders.aPage()],
  ['/organization/teamspaces', builders.aTeamspace()],
  ['/connections', builders.aConnection()],
  [MESSAGE, builders.aFeedback()],
])('POST %s accepts the body of its builder', async ([path, json]) => {
  await using sandbox = await emulator.sandbox()
  const response = await sandbox.fetch(path, { json })
  expect([response.ok, await response.text()]).toEqual([true, expect.any(String)])
})

test('a batch from the builder has files that exist', async () => {
  await using sandbox = await emulator.sandbox()
  const response = await sandbox.fetch('/batch-predictions', { json: aBatch({ items: 3 }) })
  const { id } = (await response.json()) as { id: string }
  await sandbox.clock.advance({ until: { batch: id } })
  expect((await sandbox.batches.show(id)).batch).toMatchObject({ status: 'completed' })
})

test('a subscription from the builder is accepted', async () => {
  await using sandbox = await emulator.sandbox()
  expect(await sandbox.webhooks.create(aWebhook())).toMatchObject(aWebhook())
})

const records = {
  teamspaces: [builders.aTeamspaceRecord()],
  users: [aUserRecord()],
  memberships: [builders.aMembershipRecord()],
  api_keys: [anApiKeyRecord(), anApiKeyRecord({ id: 'key-2', kind: 'service', token: 'service_built' })],
  pages: [builders.aPageRecord()],
  skills: [builders.aSkillRecord()],
  files: [aFileRecord()],
  event_triggers: [builders.anEventTriggerRecord()],
}

test.for(Object.entries(records))('a record of %s fits the fixtures demo', async ([collection, [record]]) => {
  await using sandbox = await emulator.sandbox()
  if (record === undefined) throw new Error('there is a record of each')
  const put = await sandbox.state.put(collection, record)
  // The sandbox keeps digests of secrets.
  expect(put).toMatchObject({ ...record, ...('token' in record && { token: expect.any(String) }) })
})

test('a sandbox from the builder starts with the given records and those of demo', async () => {
  await using sandbox = await emulator.sandbox(undefined, { fixtures: aSandbox(records) })
  const data = await sandbox.state.list('users')
  expect(data.map(({ id }) => id)).toEqual(expect.arrayContaining(['user-ines', 'user-mara']))
  const asBuilt = { Authorization: 'Bearer live_built' }
  expect((await sandbox.fetch('/data-views', { headers: asBuilt })).status).toBe(200)
})

test('every field can be overridden, and equal calls return equal values', () => {
  const changes = { model: 'm', metadata: { a: 'b' } }
  expect(aBatch({ items: 2, ...changes })).toMatchObject(changes)
  const items = ['item-1', 'item-2'].map((custom_id) => ({ file_id: 'file-invoice-1', custom_id }))
  expect(aBatch({ items: 2 }).items).toEqual(items)
  expect(aUserRecord({ id: 'u2' })).toEqual({ ...aUserRecord(), id: 'u2' })
  expect(aBatch()).toEqual(aBatch())
})
