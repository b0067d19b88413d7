import { expect, test } from 'vitest'
import { type TestEmulator, type TestEmulatorOptions, testEmulator } from '../support/emulator.ts'

const CLIENTS = ['c1', 'c2', 'c3', 'c4', 'c5', 'c6', 'c7', 'c8'] as const

const CALLS = 20

/** Three rules that fire by chance, each with a different status. */
const RULES = [
  rule('failing', 503, { probability: 0.3, by: 'tag' }, 'continue'),
  rule('limiting', 429, { probability: 0.2, by: ['operation', 'tag'], after: 5 }, 'stop'),
  rule('breaking', 500, { probability: 0.5, by: 'tag', every: 3 }, 'stop'),
]

function rule(id: string, status: number, when: object, then: string) {
  return { id, match: { operation: 'data-views.list' }, when, then, do: [{ respond: { status } }] }
}

/** The statuses that each client received, in order. All clients call at the same time. */
async function seen(options: TestEmulatorOptions, turn: readonly string[] = CLIENTS): Promise<Decisions> {
  const emulator = await testEmulator({ ...options, limits: false })
  await emulator.control('POST', '/faults', RULES)
  const statuses = await Promise.all(turn.map((tag) => statusesOf(emulator, tag)))
  return {
    statuses: Object.fromEntries(CLIENTS.map((tag) => [tag, statuses[turn.indexOf(tag)] ?? []])),
    fired: await firedOf(emulator),
  }
}

interface Decisions {
  readonly statuses: Readonly<Record<string, readonly number[]>>
  /** The rules that fired on each request of a client, from the log. */
  readonly fired: Readonly<Record<string, readonly string[]>>
}

async function statusesOf(emulator: TestEmulator, tag: string): Promise<number[]> {
  const statuses: number[] = []
  for (let n = 0; n < CALLS; n++)
    statuses.push((await emulator.get('/data-views', { headers: { 'x-emulator-tag': tag } })).status)
  return statuses
}

async function firedOf(emulator: TestEmulator): Promise<Decisions['fired']> {
  const fired = new Map<string, string[]>(CLIENTS.map((tag) => [tag, []]))
  for (const { headers, faults } of emulator.sandbox.log.entries()) {
    const ids = faults?.fired.map(({ rule }) => rule.id).join('+') ?? ''
    fired.get(String(headers['x-emulator-tag']))?.push(ids)
  }
  return Object.fromEntries(fired)
}

test('two runs with one seed give each client the same faults, although eight clients call at the same time, and another seed gives others', async () => {
  const first = await seen({ seed: 11 })
  const second = await seen({ seed: 11 }, [...CLIENTS].reverse())
  expect(second).toEqual(first)
  const all = Object.values(first.statuses).flat()
  for (const status of [200, 429, 500, 503]) expect(all).toContain(status)
  expect(new Set(Object.values(first.statuses).map(String)).size).toBe(CLIENTS.length)
  expect((await seen({ seed: 12 })).statuses).not.toEqual(first.statuses)
})

test('faults can be counted by API key, and requests of one key do not affect those of another', async () => {
  const run = async (others: number) => {
    const emulator = await testEmulator({ seed: 3, limits: false })
    await emulator.control('POST', '/faults', rule('flaky', 503, { probability: 0.4, by: 'api_key' }, 'stop'))
    const statuses: number[] = []
    for (let n = 0; n < 20; n++) {
      await Promise.all(Array.from({ length: others }, () => emulator.get('/data-views', { key: 'KS' })))
      statuses.push((await emulator.get('/data-views')).status)
    }
    return statuses
  }
  const alone = await run(0)
  expect(await run(3)).toEqual(alone)
  expect(new Set(alone)).toEqual(new Set([200, 503]))
})
