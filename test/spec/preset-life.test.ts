import { expect, test } from 'vitest'
import { workspaceService } from '../../src/emulator/service.ts'
import { type TestEmulator, testEmulator } from '../support/emulator.ts'

/** All presets of these families stay until they are removed; STAYING lists the others that do. */
const STAYING_FAMILIES = ['rate limit', 'auth', 'body']
const STAYING = [
  ...['server-error', 'unavailable-with-retry-after', 'ambiguous-gateway-5xx', 'offline', 'gate'],
  ...['batch-stuck', 'batch-results-410', 'never-answers', 'slow-drip', 'slow'],
]

/** Incidents that are more than one response. */
const LONGER: Readonly<Record<string, number>> = {
  'batch-404-after-create': 2,
  'page-cursor-repeated': 11,
  'page-cursor-cycle': 11,
}

/** The statuses of requests one after the other, null for a broken connection. */
async function statuses(emulator: TestEmulator, count: number): Promise<(number | null)[]> {
  const seen: (number | null)[] = []
  for (let n = 0; n < count; n++) {
    const response = await emulator.get('/data-views').catch(() => undefined)
    seen.push(response?.status ?? null)
  }
  return seen
}

const rules = async (emulator: TestEmulator): Promise<Record<string, unknown>[]> =>
  (await emulator.control('GET', '/faults')).body.data

test('each preset fires a fixed number of times or until it is removed', async () => {
  const emulator = await testEmulator()
  const presets = [...workspaceService.presets.values()]
  for (const { name, family } of presets) {
    const { body } = await emulator.control('POST', '/faults', { preset: name })
    const stays = STAYING_FAMILIES.includes(family) || STAYING.includes(name)
    const times = LONGER[name] === undefined ? 'once' : `at most ${LONGER[name]} times`
    const life = stays ? 'It stays until it is removed.' : `It fires ${times}, then it is spent.`
    expect([name, body.life]).toEqual([name, life])
  }
})

test('arming a preset again replaces its spent rule, but not one that can still fire or has its own id', async () => {
  const emulator = await testEmulator()
  const arm = async () => (await emulator.control('POST', '/faults', { preset: 'fin-before-headers' })).body
  expect(await arm()).toMatchObject({ id: 'fin-before-headers', times: 1 })
  expect(await statuses(emulator, 2)).toEqual([null, 200])
  expect(await rules(emulator)).toMatchObject([{ id: 'fin-before-headers', status: 'spent', fired: 1 }])
  expect(await arm()).toMatchObject({ id: 'fin-before-headers', status: 'armed', fired: 0 })
  expect(await arm()).toMatchObject({ id: 'fin-before-headers-2' })
  expect(await statuses(emulator, 3)).toEqual([null, null, 200])
  expect(await rules(emulator)).toHaveLength(2)
  const own = { id: 'mine', match: 'everything', times: 1, do: [{ respond: { status: 503 } }] }
  await emulator.control('POST', '/faults', own)
  expect(await statuses(emulator, 2)).toEqual([503, 200])
  for (const rule of [own, { id: 'mine', preset: 'slow' }])
    expect((await emulator.control('POST', '/faults', rule)).status).toBe(409)
})

test.for([
  [{ when: {} }, [null, null, null], 'armed', 'It stays until it is removed.'],
  [{ when: { first: 2 } }, [null, null, 200], 'spent', 'It fires at most 2 times, then it is spent.'],
  [{ when: { nth: 2 } }, [200, null, 200], 'spent', 'It fires once, then it is spent.'],
  [{ times: 2 }, [null, null, 200], 'spent', 'It fires at most 2 times, then it is spent.'],
  [{ when: { until: { calls: 1 } } }, [null, 200, 200], 'spent', 'It fires once, then it is spent.'],
  [{ when: { first: 1, by: 'tag' } }, [null, 200, 200], 'armed', 'It stays until it is removed.'],
  [{ ttl: '1m' }, [null, 200, 200], 'spent', 'It fires once within 1m, then it is spent.'],
] as const)('%j changes how long a preset that fires once lasts', async ([over, seen, status, life]) => {
  const emulator = await testEmulator()
  const { body } = await emulator.control('POST', '/faults', { preset: 'fin-before-headers', ...over })
  expect(body.life).toBe(life)
  expect(await statuses(emulator, 3)).toEqual(seen)
  expect(await rules(emulator)).toMatchObject([{ status }])
})

test('a sequence that ends with pass is spent after its last step, and a rule past its last instant is expired', async () => {
  const emulator = await testEmulator()
  const fail = [{ respond: { status: 503 } }]
  const when = { sequence: ['fail', 'pass', 'pass'] }
  const until = { virtual_time: '2026-03-01T12:01:00Z' }
  const stepping = { match: { operation: 'data-views.list' }, when, actions: { fail } }
  const timed = { match: { operation: 'agents.list' }, when: { until }, do: fail }
  await emulator.control('POST', '/faults', [stepping, timed])
  const standing = async () => (await rules(emulator)).map(({ status }) => status)
  expect(await standing()).toEqual(['armed', 'armed'])
  expect(await statuses(emulator, 2)).toEqual([503, 200])
  emulator.advance('1m')
  expect(await standing()).toEqual(['spent', 'expired'])
})
