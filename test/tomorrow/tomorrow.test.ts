import { once } from 'node:events'
import { get } from 'node:http'
import { expect, test } from 'vitest'
import type { Json } from '../../src/core/json.ts'
import { objectId } from '../../src/core/random.ts'
import { connect, startEmulator } from '../../src/index.ts'
import { KEYS } from '../support/base-state.ts'
import { aBatch } from '../support/batches.ts'
import { alive, dataFolder } from '../support/data-folder.ts'
import { type TestEmulator, testEmulator } from '../support/emulator.ts'
import { pass, webhookEmulator } from '../support/webhook-emulator.ts'

const tomorrowEmulator = (tomorrow: Json) => testEmulator({ settings: { tomorrow } })

const USERS = '/organization/teamspaces/ts-a/users'
const page = (emulator: TestEmulator) => emulator.post('/pages', { name: 'Plan' })

test('every object of a response has a field that no client knows, and none that a client has chosen', async () => {
  const { emulator } = await webhookEmulator(undefined, { settings: { tomorrow: { only: ['field'] } } })
  const created = await emulator.post('/batch-predictions', { ...aBatch(), metadata: { order: '1' } })
  const next = { version: expect.any(Number) }
  expect(created.body).toMatchObject({ next_generation: next, request_counts: { next_generation: next } })
  expect(created.body.metadata).toEqual({ order: '1' })
  await pass(emulator, '1h')
  const [line] = (await emulator.get(`/batch-predictions/${created.body.id}/results`)).text.split('\n')
  const result = JSON.parse(line ?? '')
  expect(result.next_generation).toEqual(next)
  expect(result.output).not.toHaveProperty('next_generation')
})

test('the same seed has the same values, another seed others', async () => {
  const bodies = await Promise.all(
    [1, 1, 2, 3].map(async (seed) => {
      const emulator = await testEmulator({ seed, settings: { tomorrow: { only: ['field', 'enum'] } } })
      return (await emulator.get(USERS)).text
    }),
  )
  expect(bodies[1]).toBe(bodies[0])
  expect(new Set(bodies).size).toBe(3)
})

test('an extensible value is one that no client knows; status, object and shown codes stay', async () => {
  const emulator = await tomorrowEmulator({ only: ['enum'] })
  const { body } = await emulator.get(USERS)
  expect(body.object).toBe('list')
  for (const user of body.data) expect(user.permissions.role).toMatch(/^next_generation_\d$/)
  const refused = await emulator.get('/batch-predictions/none')
  expect(refused.body.type).toMatch(/\/problems\/next_generation_\d$/)
  expect(refused.body.status).toBe(404)
  await emulator.control('POST', '/limits/pages.create/fill', { remaining: 0 })
  expect((await page(emulator)).body.error).toBe('rate_limit_exceeded')
})

test('a new record has an id of 64 characters, also after a restart; records that exist keep theirs', async () => {
  const emulator = await tomorrowEmulator({ only: ['id'] })
  const before = emulator.state('users')
  const { id } = (await page(emulator)).body
  expect(id).toMatch(/^[\da-f]{64}$/)
  expect(id.slice(0, 24)).toBe(objectId(1, Number.parseInt(id.slice(12, 24), 16)))
  expect(emulator.state('users')).toEqual(before)
  const again = await emulator.restart()
  expect((await page(again)).body.id).toMatch(/^[\da-f]{64}$/)
  const part = { name: 'Part', parent: { type: 'page', page_id: id } }
  expect((await again.post('/pages', part)).status).toBe(200)
})

test('fields and headers have another order, rows of a list have not', async () => {
  const today = await testEmulator()
  const emulator = await tomorrowEmulator({ only: ['order'] })
  const [before, { body }] = [await today.get(USERS), await emulator.get(USERS)]
  expect(body).toEqual(before.body)
  expect(Object.keys(body)).toEqual(Object.keys(before.body).reverse())
  const namesOf = async ({ baseUrl }: TestEmulator) => {
    const headers = { authorization: `Bearer ${KEYS.KU}` }
    const [response] = await once(get(`${baseUrl}${USERS}`, { headers }), 'response')
    return response.resume().rawHeaders.filter((name: string) => /^X-/.test(name))
  }
  expect(await namesOf(emulator)).toEqual((await namesOf(today)).reverse())
})

test('a batch ends, and its replay, its read and its webhook have the same bytes', async () => {
  for (const envelope of ['none', 'typed']) {
    const settings = { tomorrow: true, 'webhooks.envelope': envelope }
    const { emulator, receiver } = await webhookEmulator(undefined, { settings })
    const create = () =>
      emulator.post('/batch-predictions', aBatch(), { headers: { 'idempotency-key': 'order-1' } })
    const created = await create()
    expect((await create()).text).toBe(created.text)
    const { id } = created.body
    await pass(emulator, '1h')
    expect((await create()).text).toBe(created.text)
    const read = await emulator.get(`/batch-predictions/${id}`)
    expect(read.body.status).toBe('completed')
    expect((await emulator.get(`/batch-predictions/${id}`)).text).toBe(read.text)
    const [webhook, extra] = receiver.received
    const sent = envelope === 'typed' ? JSON.stringify(webhook?.body.data) : webhook?.text
    expect(sent).toBe(read.text)
    expect(receiver.received.map(({ headers }) => headers['x-emulator-event'])).toEqual([
      'batch_prediction.completed',
      'batch_prediction.next_generation',
    ])
    expect(extra?.headers['x-emulator-delivery']).toMatch(/^[\da-f]{64}$/)
  }
})

test('a subscriber of one type gets no other', async () => {
  const { emulator, receiver } = await webhookEmulator(undefined, { settings: { tomorrow: true } })
  await emulator.control('PATCH', '/webhooks/hook', { events: ['batch_prediction.completed'] })
  await emulator.post('/batch-predictions', aBatch())
  await pass(emulator, '1h')
  expect(receiver.received.length).toBe(1)
})

test('only and except choose kinds and operations', async () => {
  const kindsOf = async (choice: Json) => {
    const emulator = await tomorrowEmulator(choice)
    await page(emulator)
    await emulator.get(USERS)
    const { body } = await emulator.control('GET', '/requests')
    return body.data.map(({ tomorrow = [] }: { tomorrow?: string[] }) => tomorrow.join())
  }
  expect(await kindsOf({})).toEqual(['field,id,header,order', 'field,enum,header,order'])
  expect(await kindsOf({ only: ['field', 'pages.create'] })).toEqual(['field', ''])
  expect(await kindsOf({ except: ['field', 'order', 'pages.create'] })).toEqual(['', 'enum,header'])
  const both = { only: ['teamspace-users.list'], except: ['order'] }
  expect(await kindsOf(both)).toEqual(['', 'field,enum,header'])
})

test.for([
  [{ only: ['fields'] }, '/tomorrow/only/0', 'must be one of field, enum, id, header, order, event'],
  [{ except: ['order', 'page.create'] }, '/tomorrow/except/1', 'Did you mean "pages.create"?'],
] as const)('the choice %j is refused at %s, and changes nothing', async ([tomorrow, pointer, words]) => {
  const emulator = await testEmulator()
  const { status, body } = await emulator.control('PATCH', '/settings', { tomorrow })
  expect(status).toBe(400)
  expect(body.details.errors[0]).toMatchObject({ pointer, detail: expect.stringContaining(words) })
  expect((await page(emulator)).headers.get('x-next')).toBe(null)
})

test('the log, the explanation and the fault name the changes; a response does not', async () => {
  const emulator = await testEmulator()
  const armed = await emulator.control('POST', '/faults', { preset: 'tomorrow', times: 1 })
  expect(armed.status).toBe(201)
  const first = await emulator.get(USERS)
  expect(first.headers.get('x-emulator-fault')).toBe(null)
  expect(first.body.next_generation).toBeDefined()
  expect((await emulator.get(USERS)).body.next_generation).toBe(undefined)
  const { body } = await emulator.control('GET', '/requests')
  const [changed, plain] = body.data
  expect(changed).toMatchObject({ faults: ['tomorrow'], tomorrow: ['field', 'enum', 'header', 'order'] })
  expect(plain).not.toHaveProperty('tomorrow')
  const { body: trace } = await emulator.control('GET', `/explain/${changed.id}`)
  expect(trace.steps.at(-1).description).toContain('tomorrow has changed it: field, enum, header, order.')
})

test('the option of the emulator applies to every sandbox, unless its settings have their own', async () => {
  await using emulator = await startEmulator({ port: 0, ephemeral: true, rate: 0, tomorrow: true })
  const isChanged = async (settings?: Record<string, boolean | string>) => {
    await using sandbox = await connect(emulator.url).sandbox(undefined, settings && { settings })
    return (await sandbox.fetch('/data-views')).headers.has('x-next')
  }
  expect(await isChanged()).toBe(true)
  expect(await isChanged({ 'users.search': 'exact' })).toBe(true)
  expect(await isChanged({ tomorrow: false })).toBe(false)
})

test('a saved sandbox keeps its other settings when it is started with the option', async () => {
  const data = dataFolder()
  const settingsOf = async (options: object) => {
    const { emulator } = await alive(data, options)
    const { overrides } = emulator.sandbox.settings
    await emulator.close()
    return overrides
  }
  const settings = { 'users.search': 'exact' }
  expect(await settingsOf({ settings })).toEqual(settings)
  expect(await settingsOf({ tomorrow: true })).toEqual({ ...settings, tomorrow: true })
  expect(await settingsOf({})).toEqual({ ...settings, tomorrow: true })
})
