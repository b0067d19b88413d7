import { expect, test } from 'vitest'
import { KEYS } from '../support/base-state.ts'
import { type TestEmulator, testEmulator } from '../support/emulator.ts'

/** The report of these verdicts alone: each test is about one, whatever else is found. */
async function conduct(emulator: TestEmulator, codes: readonly string[], query = '') {
  const report = (await emulator.control('GET', `/conduct${query}`)).body
  return { ...report, data: report.data.filter(({ code }: { code: string }) => codes.includes(code)) }
}

test('a client that ignores Retry-After is found, with its requests and the clock', async () => {
  const emulator = await testEmulator()
  await emulator.control('POST', '/faults', { preset: 'unavailable-with-retry-after', times: 1 })
  await emulator.get('/data-views')
  emulator.advance('1500ms')
  await emulator.get('/data-views')
  const tooShort = (query = '') => conduct(emulator, ['wait.too-short'], query)
  const report = await tooShort()
  expect(report).toMatchObject({ object: 'list', judged: { calls: 1, requests: 2, dropped: 0 } })
  const requests = ['default-000001', 'default-000002']
  const evidence = { retry_after: '2', promised_ms: 2000, waited_ms: 1500, clock: 'virtual' }
  const section = 'Limits / Rate limits'
  expect(report.data).toMatchObject([{ severity: 'warning', requests, evidence, section }])
  expect((await tooShort('?retries=2')).data).toMatchObject([{ severity: 'error' }])
  expect((await tooShort('?except=wait.too-short')).data).toEqual([])
  expect((await tooShort('?since=default-000001')).data).toEqual([])
})

test('an unknown code in except is refused, and the nearest one is named', async () => {
  const emulator = await testEmulator()
  const { status, body } = await emulator.control('GET', '/conduct?except=wait.too-shrt')
  expect([status, body.message]).toEqual([400, expect.stringContaining('Did you mean "wait.too-short"?')])
})

test('a client that repeats a 401 is found, and one that sends another key is not', async () => {
  const emulator = await testEmulator()
  const pointless = async (...tokens: readonly string[]) => {
    for (const token of tokens) await emulator.get('/data-views', { token })
    return (await conduct(emulator, ['retry.pointless'])).data.length
  }
  expect(await pointless('live_old', 'live_old', 'live_new', 'live_new', KEYS.KU)).toBe(0)
  expect(await pointless('live_other', 'live_other', 'live_other')).toBe(1)
})

test('the time in which a test holds a request at a gate is no wait of its client', async () => {
  const emulator = await testEmulator()
  const { gates } = emulator.sandbox.faults
  await emulator.control('POST', '/faults', { preset: 'gate', do: [{ gate: { at: 'after-handler' } }] })
  await emulator.control('POST', '/faults', { preset: 'unavailable-with-retry-after', times: 1 })
  const refused = emulator.get('/data-views')
  await emulator.control('POST', '/gates/gate/wait')
  // The client waits 1 of the 2 seconds that it was told to, whatever happened while it had no response.
  emulator.advance('1h')
  gates.release(gates.held())
  expect((await refused).status).toBe(503)
  await emulator.control('DELETE', '/faults/gate')
  emulator.advance('1s')
  await emulator.get('/data-views')
  const evidence = { promised_ms: 2000, waited_ms: 1000, clock: 'virtual' }
  expect((await conduct(emulator, ['wait.too-short'])).data).toMatchObject([{ evidence }])
})

test('a create that is repeated with a cut body or without its key is found', async () => {
  const emulator = await testEmulator()
  await emulator.control('POST', '/faults', { preset: 'server-error', times: 1 })
  for (const sent of [{ raw: '{"name":"Roof plan"}' }, { raw: '{"name":', key: 'none' } as const]) {
    await emulator.request('POST', '/pages', sent)
    emulator.advance('1s')
  }
  const { data } = await conduct(emulator, ['body.changed', 'request.changed'])
  const messages = [/was cut: 8 of 20 bytes\.$/, /had no Authorization header\.$/]
  expect(data).toMatchObject(messages.map((each) => ({ message: expect.stringMatching(each) })))
})
