import { expect, test } from 'vitest'
import { createBatch } from '../support/batches.ts'
import type { TestEmulator, TestResponse } from '../support/emulator.ts'
import { armRule } from '../support/faults.ts'
import { MemoryScenarios } from '../support/memory-scenarios.ts'
import { minutelyEmulator, slowHost } from '../support/minutely.ts'
import { webhookEmulator } from '../support/webhook-emulator.ts'

const START = Date.parse('2026-03-01T12:00:00.000Z')

const advance = (emulator: TestEmulator, body: object) => emulator.control('POST', '/clock/advance', body)

test('a client that disconnects ends its advance, and the next advance is accepted', async () => {
  const { hostTime, ran } = slowHost(START)
  const emulator = await minutelyEmulator({ hostTime })
  const client = new AbortController()
  let events = 0
  emulator.sandbox.listeners.onEvent(() => {
    ran()
    events += 1
    if (events === 200) client.abort()
  })
  const headers = { 'content-type': 'application/json' }
  const init = { method: 'POST', headers, body: '{"by":"3650d"}', signal: client.signal }
  await expect(fetch(`${emulator.emulator.controlUrl}/clock/advance`, init)).rejects.toThrow()
  let response: TestResponse
  do response = await advance(emulator, { by: '0s' })
  while (response.status === 409)
  expect(response.status).toBe(200)
  // The whole advance would run ten million events.
  expect(events).toBeLessThan(100_000)
})

test('closing the emulator ends an advance in progress with a 409, before it reaches its target', async () => {
  const emulator = await minutelyEmulator()
  const began = new Promise<void>((resolve) => emulator.sandbox.listeners.onEvent(() => resolve()))
  const passage = advance(emulator, { by: '3650d' })
  await began
  await emulator.emulator.close()
  const { status, body } = await passage
  expect([status, body.error]).toEqual([409, 'conflict'])
  expect(body.message).toContain('The advance was ended before it reached its target. The clock is at 2026-')
})

test('a webhook receiver is served during an advance; requests that conflict with it are refused with a mitigation', async () => {
  let now = ''
  const refusals: TestResponse[] = []
  const scenarioSource = new MemoryScenarios({ story: {} })
  const react = async () => {
    now = (await emulator.control('GET', '/clock')).body.now
    expect((await emulator.get('/agents')).status).toBe(200)
    const document = (await emulator.control('GET', '/state')).body
    for (const [method, path, body] of [
      ['POST', '/clock/advance', { by: '1h' }],
      ['PATCH', '/clock', { now: '2027-01-01T00:00:00Z' }],
      ['POST', '/reset', {}],
      ['POST', '/snapshots/before/restore', undefined],
      ['PUT', '/state', document],
      ['POST', '/scenarios/story/start', { reset: true }],
    ] as const)
      refusals.push(await emulator.control(method, path, body))
    return 204
  }
  const { emulator } = await webhookEmulator(react, { scenarioSource })
  await emulator.control('POST', '/snapshots', { name: 'before' })
  await createBatch(emulator)
  const { status, body } = await advance(emulator, { by: '1h' })
  expect([status, body.to]).toEqual([200, '2026-03-01T13:00:00.000Z'])
  const [attempt] = body.events.filter(({ webhook }: { webhook?: object }) => webhook !== undefined)
  expect(now).toBe(attempt.at)
  const mitigation = expect.stringContaining('Send the request again after')
  expect(refusals).toMatchObject(Array(6).fill({ status: 409, body: { mitigation } }))
  expect((await emulator.control('POST', '/snapshots/before/restore')).status).toBe(200)
})

const BEYOND = 'may run 500 events at once, and more are due up to'

test('a fault and skipping on a poll refuse more than 500 events, and name the advance request that runs them', async () => {
  const settings = { 'batch.pace': { validating: '10m' } }
  const emulator = await minutelyEmulator({ settings }, { schedule: '* * * * * *' })
  armRule(emulator.sandbox, { when: { nth: 1 }, do: [{ clock: { advance: '1h' } }] })
  const faulted = await emulator.get('/agents')
  expect([faulted.status, faulted.body.error]).toEqual([409, 'conflict'])
  expect(faulted.body.message).toContain(`The clock action of a fault ${BEYOND} 2026-03-01T13:00:00.000Z`)
  expect(faulted.body.mitigation).toContain('workspace-emulator clock advance --to 2026-03-01T13:00:00.000Z')
  expect((await advance(emulator, { to: '2026-03-01T13:00:00.000Z' })).status).toBe(200)

  await emulator.control('PATCH', '/clock', { skip_on_poll: true })
  const { id } = await createBatch(emulator)
  const polled = await emulator.get(`/batch-predictions/${id}`)
  expect(polled.status).toBe(409)
  expect(polled.body.detail).toContain(`Skipping on a poll ${BEYOND} 2026-03-01T13:10:00.000Z`)
  expect(polled.body.detail).toContain('"workspace-emulator clock advance --to 2026-03-01T13:10:00.000Z"')
})

// Running 100,000 events takes a few seconds.
test('a PATCH beyond the event limit names the instant reached', { timeout: 120_000 }, async () => {
  const emulator = await minutelyEmulator()
  const { status, body } = await emulator.control('PATCH', '/clock', { now: '2026-05-01T00:00:00Z', rate: 5 })
  expect([status, body.error]).toEqual([409, 'conflict'])
  expect(body.message).toMatch(/^More than 100000 events are due up to .* The clock is at 2026-04-05T/)
  expect(body.mitigation).toContain('"workspace-emulator clock advance --to 2026-05-01T00:00:00Z"')
  expect((await emulator.control('GET', '/clock')).body.rate).toBe(0)
})
