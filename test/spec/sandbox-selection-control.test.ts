import { expect, test } from 'vitest'
import { testEmulator } from '../support/emulator.ts'
import { made, type Said, send } from '../support/send.ts'

const KEYLESS: Said = { authorization: undefined }
const inHeader = (name: string): Said => ({ ...KEYLESS, headers: { 'X-Emulator-Sandbox': name } })

test.for<[way: string, prefix: string, said: Said]>([
  ['path', '/@w1', KEYLESS],
  ['header', '', inHeader('w1')],
  ['path before the header', '/@w1', inHeader('w2')],
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
    expect([emulator.digest(), made(emulator)]).toEqual([before, ['w1']])
  },
)

test('the Date of a response is from the clock of the selected sandbox, also for a refusal', async () => {
  const emulator = await testEmulator()
  await send(emulator, 'POST', '/@w1/__emulator/clock/advance', { ...KEYLESS, json: { by: '24h' } })
  for (const path of ['/@w1/__emulator/clock', '/@w1/__emulator/nowhere', '/@w1/__emulator/health'])
    expect((await send(emulator, 'GET', path)).headers.date).toBe('Mon, 02 Mar 2026 12:00:00 GMT')
  const other = await send(emulator, 'GET', '/__emulator/clock', KEYLESS)
  expect(other.headers.date).toBe('Sun, 01 Mar 2026 12:00:00 GMT')
})

test('a read with a mistyped name creates no sandbox, and names the nearest', async () => {
  const emulator = await testEmulator()
  await emulator.control('POST', '/sandboxes', { name: 'typo' })
  const message = 'There is no sandbox "tpyo". Did you mean "typo"?'
  const mitigation = '"workspace-emulator sandbox list" lists them.'
  for (const path of ['/clock', '/requests', '/faults', '/state', '/limits', '/clock/horizon']) {
    const { status, body } = await emulator.in('tpyo')('GET', path)
    expect([path, status, body.message, body.mitigation]).toEqual([path, 404, message, mitigation])
  }
  expect(made(emulator)).toEqual(['typo'])
})

test('with sandboxes: strict unknown names are refused on the API too, until one is created', async () => {
  const emulator = await testEmulator({ sandboxes: 'strict' })
  await emulator.control('POST', '/sandboxes', { name: 'typo' })
  const { status, body } = await send(emulator, 'GET', '/@tpyo/v1/data-views')
  expect([status, body.error]).toEqual([404, 'not_found'])
  expect(body.message).toBe('There is no sandbox "tpyo". Did you mean "typo"?')
  expect(body.mitigation).toContain('"workspace-emulator sandbox create NAME" creates one.')
  expect((await emulator.in('tpyo')('POST', '/faults', { preset: 'slow' })).status).toBe(404)
  for (const prefix of ['/@typo', ''])
    expect((await send(emulator, 'GET', `${prefix}/v1/data-views`)).status).toBe(200)
  expect(made(emulator)).toEqual(['typo'])
})

test('routes without a sandbox, unknown routes and invalid bodies create no sandbox', async () => {
  const emulator = await testEmulator()
  const inW1 = inHeader('w1')
  const text = { headers: { ...inW1.headers, 'content-type': 'text/plain' }, json: {} }
  for (const [status, method, path, said] of [
    ...['', '/', '/health', '/ready', '/sandboxes'].map(
      (path) => [200, 'GET', `/@w1/__emulator${path}`, KEYLESS] as const,
    ),
    [404, 'GET', '/@w1/__emulator/nowhere', KEYLESS],
    [404, 'GET', '/@w1/__emulator/clock/', KEYLESS],
    [200, 'GET', '/_x-steady/health', inW1],
    [405, 'PUT', '/@w1/__emulator/clock', KEYLESS],
    [415, 'POST', '/@w1/__emulator/reset', { ...KEYLESS, ...text }],
  ] as const)
    expect([path, (await send(emulator, method, path, said)).status]).toEqual([path, status])
  expect(made(emulator)).toEqual([])
})
