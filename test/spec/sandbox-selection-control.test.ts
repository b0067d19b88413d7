import { expect, test } from 'vitest'
import { KEYS } from '../support/base-state.ts'
import { controlEmulator } from '../support/control-emulator.ts'
import { testEmulator } from '../support/emulator.ts'
import { made, type Said, send } from '../support/send.ts'

const KEYLESS: Said = { authorization: undefined }
const HEADER: Said = { ...KEYLESS, headers: { 'X-Emulator-Sandbox': 'w1' } }

test.for<[way: string, prefix: string, said: Said]>([
  ['path', '/@w1', KEYLESS],
  ['header', '', HEADER],
  ['path before the header', '/@w1', { ...KEYLESS, headers: { 'X-Emulator-Sandbox': 'w2' } }],
])(
  'the %s selects the sandbox of the control interface, which the first write creates',
  async ([, prefix, said]) => {
    const emulator = await testEmulator()
    const before = emulator.digest()
    const read = await send(emulator, 'GET', `${prefix}/__emulator/state`, said)
    expect([read.status, made(emulator)]).toEqual([404, []])
    await send(emulator, 'POST', `${prefix}/__emulator/clock/advance`, { ...said, json: { by: '1h' } })
    const response = await send(emulator, 'GET', `${prefix}/__emulator/state`, said)
    expect([response.status, response.body.sandbox]).toEqual([200, 'w1'])
    const log = await send(emulator, 'GET', `${prefix}/__emulator/requests`, said)
    expect([log.body.data, log.headers.date]).toEqual([[], 'Sun, 01 Mar 2026 13:00:00 GMT'])
    expect([emulator.digest(), made(emulator)]).toEqual([before, ['w1']])
  },
)

test('the Date of a response is from the clock of the selected sandbox, also for a refusal', async () => {
  const emulator = await testEmulator()
  await send(emulator, 'POST', '/@w1/__emulator/clock/advance', { ...KEYLESS, json: { by: '24h' } })
  const dates = []
  for (const path of ['/@w1/__emulator/clock', '/@w1/__emulator/nowhere', '/@w1/__emulator/health']) {
    dates.push((await send(emulator, 'GET', path, KEYLESS)).headers.date)
  }
  expect(dates).toEqual(dates.map(() => 'Mon, 02 Mar 2026 12:00:00 GMT'))
  const other = await send(emulator, 'GET', '/__emulator/clock', KEYLESS)
  expect(other.headers.date).toBe('Sun, 01 Mar 2026 12:00:00 GMT')
})

test('each sandbox shows its own log, and a reset affects only that sandbox', async () => {
  const emulator = await testEmulator()
  await emulator.post('/pages', { name: 'kept' })
  await send(emulator, 'POST', '/@w1/v1/pages', { json: { name: 'lost' } })
  const log = await send(emulator, 'GET', '/@w1/__emulator/requests', KEYLESS)
  expect(log.body.data.map(({ id }: { id: string }) => id)).toEqual(['w1-000001'])
  const reset = await send(emulator, 'POST', '/@w1/__emulator/reset', KEYLESS)
  expect(reset.body).toMatchObject({ sandbox: 'w1', records: { pages: 0 } })
  expect(emulator.state('pages').length).toBe(1)
})

test.for(['', 'W1', '-w1', '..%2f', 'a'.repeat(64), 'w1, w2'])(
  'the name "%s" is refused as a standard error, and nothing changes',
  async (name) => {
    const emulator = await testEmulator()
    const before = emulator.digest()
    const header = { ...KEYLESS, headers: { 'X-Emulator-Sandbox': name } }
    const responses = [
      await send(emulator, 'POST', '/__emulator/clock/advance', { ...header, json: { by: '1h' } }),
      await send(emulator, 'GET', '/__emulator/health', header),
      await send(emulator, 'GET', `/@${name.replaceAll(' ', '+')}/__emulator/clock`, KEYLESS),
    ]
    for (const response of responses) {
      expect([response.status, response.body.error]).toEqual([400, 'bad_request'])
      expect(response.body.mitigation).toContain('lower-case letters')
    }
    expect([made(emulator), emulator.digest()]).toEqual([[], before])
  },
)

test('a client without the control token creates no sandbox', async () => {
  const emulator = await testEmulator({ controlToken: 'secret' })
  for (const said of [KEYLESS, { authorization: 'Bearer wrong' }, { authorization: `Bearer ${KEYS.KU}` }]) {
    expect((await send(emulator, 'GET', '/@w1/__emulator/clock', said)).status).toBe(401)
  }
  expect(made(emulator)).toEqual([])
  const said = { authorization: 'Bearer secret', json: { by: '1h' } }
  expect((await send(emulator, 'POST', '/@w1/__emulator/clock/advance', said)).status).toBe(200)
  expect(made(emulator)).toEqual(['w1'])
})

test('a control token is not an API key: an "@" suffix in it selects no sandbox', async () => {
  const emulator = await testEmulator({ controlToken: 'open@w1' })
  const whole = await send(emulator, 'GET', '/__emulator/state', { authorization: 'Bearer open@w1' })
  expect([whole.status, whole.body.sandbox]).toEqual([200, 'default'])
  expect((await send(emulator, 'GET', '/__emulator/state', { authorization: 'Bearer open' })).status).toBe(
    401,
  )
  expect(made(emulator)).toEqual([])
})

test('routes without a sandbox, unknown routes and invalid bodies create no sandbox', async () => {
  const emulator = await testEmulator()
  const statuses = []
  for (const path of ['', '/', '/health', '/ready', '/nowhere', '/clock/']) {
    statuses.push((await send(emulator, 'GET', `/@w1/__emulator${path}`, KEYLESS)).status)
  }
  statuses.push((await send(emulator, 'GET', '/_x-steady/health', HEADER)).status)
  statuses.push((await send(emulator, 'PUT', '/@w1/__emulator/clock', KEYLESS)).status)
  const form = { ...HEADER, headers: { ...HEADER.headers, 'content-type': 'text/plain' }, json: {} }
  statuses.push((await send(emulator, 'POST', '/@w1/__emulator/reset', form)).status)
  expect(statuses).toEqual([200, 200, 200, 200, 404, 404, 200, 405, 415])
  expect(made(emulator)).toEqual([])
})

test('the header selects the sandbox for every service', async () => {
  const emulator = await controlEmulator()
  const inOther = { headers: { 'x-emulator-sandbox': 'other' } }
  expect((await emulator.call('PATCH', '/state/shelves/s1', { name: 'Changed' }, inOther)).status).toBe(200)
  expect((await emulator.call('GET', '/state/shelves/s1', undefined, inOther)).body.name).toBe('Changed')
  expect((await emulator.call('GET', '/state/shelves/s1')).body.name).not.toBe('Changed')
})
