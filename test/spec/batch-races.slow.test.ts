import { expect, test } from 'vitest'
import { Chance } from '../../src/core/random.ts'
import { advanceTo } from '../../src/core/time/run-events.ts'
import { callBatches } from '../support/batch-calls.ts'
import { aBatch, batchEmulator, intervene } from '../support/batches.ts'
import type { TestEmulator } from '../support/emulator.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR

/**
 * One race: the items or the window of a batch end at an instant, with cancels shortly before, at and after it, in an
 * order that the seed draws. The seed also draws the steps of the clock, so that requests fall between any two events.
 */
function race(
  emulator: TestEmulator,
  seed: number,
): { statuses: string[]; terminal: number; changed: number } {
  const { sandbox } = emulator
  const chance = new Chance(seed, 'race')
  const finishes = chance.int(0, 1) === 0
  const processing = finishes ? chance.pick([HOUR, DAY - HOUR, DAY - 2, DAY]) : DAY + chance.int(1, HOUR)
  const started = sandbox.clock.now
  const { id } = callBatches(sandbox, 'create', { body: aBatch({ items: chance.int(1, 5) }) }).body
  const validating = chance.pick([0, 1, 2_000])
  const pace = {
    validating: `${validating}ms`,
    in_progress: `${processing}ms`,
    finalizing: chance.pick(['immediate', '1ms', '1s']),
  }
  intervene(emulator, 'change', id, { pace })
  const ref = `batch_predictions/${id}`
  const statuses: string[] = []
  const bodies = new Set<string>()
  const end = started + Math.min(validating + processing, DAY)
  let at = end - chance.pick([0, 1, 2, 1_000])
  while (at < end + 3_000) {
    const events = advanceTo(sandbox, at).events.filter(
      (event) => event.ref === ref && event.to !== undefined,
    )
    statuses.push(...events.map(({ to }) => String(to)))
    const response = callBatches(sandbox, chance.pick(['cancel', 'retrieve', 'retrieve', 'retrieve']), { id })
    if (response.status === 200) statuses.push(response.body.status)
    if (isEnd(response.body.status)) bodies.add(JSON.stringify(response.body))
    at += chance.pick([0, 0, 1, 1, 2, 998, 1_000])
  }
  advanceTo(sandbox, end + HOUR)
  const last = callBatches(sandbox, 'retrieve', { id }).body
  const { total, ...parts } = last.request_counts
  expect(Object.values<number>(parts).reduce((sum, count) => sum + count)).toBe(total)
  expect(callBatches(sandbox, 'results', { id }).lines).toHaveLength(total)
  bodies.add(JSON.stringify(last))
  const path = statuses.filter((status, n) => status !== statuses[n - 1])
  return { statuses: path, terminal: path.filter(isEnd).length, changed: bodies.size - 1 }
}

const SETTINGS = [
  { 'batch.cancel_delay': '0s' },
  { 'batch.cancel_delay': '1ms', 'batch.cancel_in_flight': 'finish' },
  { 'batch.cancel_delay': '1s' },
  { 'batch.cancel_delay': '1s', 'batch.cancel_in_flight': 'finish' },
]

function isEnd(status: string): boolean {
  return ['completed', 'failed', 'expired', 'cancelled'].includes(status)
}

test('in 1,000 interleavings a cancel and the end of a batch have exactly one outcome', {
  tags: ['R221'],
}, async () => {
  const ends = new Map<string, number>()
  for (const [group, settings] of SETTINGS.entries()) {
    const emulator = await batchEmulator(settings, { limits: false })
    for (let seed = group * 250; seed < (group + 1) * 250; seed++) {
      const { statuses, terminal, changed } = race(emulator, seed)
      expect({ seed, terminal, changed, statuses }).toEqual({ seed, terminal: 1, changed: 0, statuses })
      const last = statuses.at(-1) ?? ''
      ends.set(last, (ends.get(last) ?? 0) + 1)
    }
  }
  // The draws prove something only if every outcome occurs.
  expect([...ends.keys()].sort()).toEqual(['cancelled', 'completed', 'expired'])
  expect(Math.min(...ends.values())).toBeGreaterThan(20)
})
