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

test.for([
  [{ remaining: 0 }, [200, '2', '0', '60']],
  [{ reject: true }, refused],
])('with limits off only a fault, %j, sends Retry-After', { tags: ['R268'] }, async ([quota, expected]) => {
  const emulator = await testEmulator({ settings, limits: false })
  expect(await four(emulator)).toEqual([free, free, free, free])
  await arm(emulator, { match: { operation: 'data-views.list' }, do: [{ quota }] })
  expect(quotaOf(await emulator.get('/data-views'))).toEqual(expected)
})

test('a setting switches limits off and on again', { tags: ['U063', 'R262'] }, async () => {
  const emulator = await testEmulator({ settings })
  const seen = async (value: false | null) => {
    await emulator.control('PATCH', '/settings', { 'limits.enforced': value })
    return [(await emulator.control('GET', '/limits')).body.enforced, ...(await four(emulator))]
  }
  expect(await seen(false)).toEqual([false, free, free, free, free])
  emulator.advance('1m')
  expect(await seen(null)).toEqual([true, free, [200, '2', '0', '60'], refused, refused])
})
