import { expect, test } from 'vitest'
import { type TestEmulator, type TestResponse, testEmulator } from '../support/emulator.ts'
import { arm } from '../support/state-faults.ts'

const settings = { 'limits.overrides': [{ operation: 'data-views.list', limit: 2, window_s: 60 }] }

const quotaOf = ({ status, headers }: TestResponse) => [
  status,
  headers.get('x-ratelimit-limit'),
  headers.get('x-ratelimit-remaining'),
  headers.get('retry-after'),
]

async function four(emulator: TestEmulator) {
  const responses: unknown[] = []
  for (let n = 0; n < 4; n++) responses.push(quotaOf(await emulator.get('/data-views')))
  return responses
}

test.for([
  ['off, no response has remaining 0 or a Retry-After', false, Array(4).fill([200, '2', '1', null])],
  [
    'on, the last allowed request and a 429 have Retry-After',
    true,
    [[200, '2', '1', null], [200, '2', '0', '60'], ...Array(2).fill([429, '2', '0', '60'])],
  ],
] as const)('with limits %s', { tags: ['R262'] }, async ([, limits, expected]) => {
  expect(await four(await testEmulator({ settings, limits }))).toEqual(expected)
})

test('with limits off a fault can still set remaining to 0', { tags: ['R268'] }, async () => {
  const emulator = await testEmulator({ limits: false })
  await arm(emulator, { match: { operation: 'data-views.list' }, do: [{ quota: { remaining: 0 } }] })
  expect(quotaOf(await emulator.get('/data-views'))).toEqual([200, '200', '0', '60'])
})

test('a setting switches limits off and on again while the emulator runs', { tags: ['U063'] }, async () => {
  const emulator = await testEmulator({ settings })
  const set = (value: boolean | null) =>
    emulator.control('PATCH', '/settings', { ...settings, 'limits.enforced': value })
  await set(false)
  const shown = async () => (await emulator.control('GET', '/limits')).body.enforced
  expect(await shown()).toBe(false)
  expect((await four(emulator)).map((row) => (row as unknown[])[0])).toEqual([200, 200, 200, 200])
  await set(null)
  expect(await shown()).toBe(true)
  expect((await emulator.get('/data-views')).status).toBe(429)
})
