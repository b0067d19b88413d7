import { expect, test } from 'vitest'
import { type TestEmulator, type TestResponse, testEmulator } from '../support/emulator.ts'
import { arm } from '../support/state-faults.ts'

const settings = { 'limits.overrides': [{ operation: 'data-views.list', limit: 2, window_s: 60 }] }

const NAMES = ['x-ratelimit-limit', 'x-ratelimit-remaining', 'retry-after']

const quotaOf = ({ status, headers }: TestResponse) => [status, ...NAMES.map((name) => headers.get(name))]

async function four(emulator: TestEmulator) {
  const responses: unknown[] = []
  for (let n = 0; n < 4; n++) responses.push(quotaOf(await emulator.get('/data-views')))
  return responses
}

const free = [200, '2', '1', null]
const refused = [429, '2', '0', '60']

test.for<[what: string, limits: boolean, expected: unknown[]]>([
  ['off, no response has remaining 0 or a Retry-After', false, [free, free, free, free]],
  ['on, the last request and a 429 have Retry-After', true, [free, [200, '2', '0', '60'], refused, refused]],
])('with limits %s', { tags: ['R262'] }, async ([, limits, expected]) => {
  expect(await four(await testEmulator({ settings, limits }))).toEqual(expected)
})

test.for([
  [{ remaining: 0 }, [200, '200', '0', '60']],
  [{ reject: true }, [429, '200', '0', '60']],
])('with limits off a fault with %j still has its effect', { tags: ['R268'] }, async ([quota, expected]) => {
  const emulator = await testEmulator({ limits: false })
  await arm(emulator, { match: { operation: 'data-views.list' }, do: [{ quota }] })
  expect(quotaOf(await emulator.get('/data-views'))).toEqual(expected)
})

test('a setting switches limits off and on again while the emulator runs', { tags: ['U063'] }, async () => {
  const emulator = await testEmulator({ settings })
  for (const [value, isEnforced, last] of [
    [false, false, free],
    [null, true, refused],
  ] as const) {
    await emulator.control('PATCH', '/settings', { 'limits.enforced': value })
    expect((await emulator.control('GET', '/limits')).body.enforced).toBe(isEnforced)
    expect((await four(emulator)).at(-1)).toEqual(last)
  }
})
