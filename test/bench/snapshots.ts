import { join } from 'node:path'
import type { JsonObject } from '../../src/core/json.ts'
import { advance } from '../../src/core/time/advance.ts'
import { openEmulator } from '../../src/emulator/emulator.ts'
import { ask, batchBody, benchFixtures, say, scratch, shotAt } from './servers.ts'

/**
 * `npx tsx test/bench/snapshots.ts`: the cost of saving, restoring, forking and resetting a sandbox with a batch of 5,000
 * items. Medians, in the process itself; nothing is asserted.
 */
const ROUNDS = 20

const BATCH = batchBody(5_000)

/** Measures `work`, which gets the result of `prepare`; the time of `prepare` does not count. */
async function time<T>(
  what: string,
  prepare: (round: number) => T | Promise<T>,
  work: (made: T) => Promise<unknown>,
): Promise<void> {
  const times: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const made = await prepare(round)
    const begin = performance.now()
    await work(made)
    times.push(performance.now() - begin)
  }
  const middle = times.sort((a, b) => a - b)[times.length >> 1] ?? 0
  say(what, `${middle.toFixed(2)} ms`)
}

async function bench(where: 'in memory' | 'on the disk'): Promise<void> {
  const place = where === 'in memory' ? { ephemeral: true } : { data: join(scratch(), 'data') }
  const fixtures = JSON.parse(benchFixtures(0)) as JsonObject
  const options = { port: 0, rate: 0, limits: false, fixtures, ...place }
  let emulator = await openEmulator(options)
  const post = (path: string, body: string) => ask(shotAt(emulator, 'POST', `/v1${path}`, body))
  await post('/batch-predictions', BATCH)
  const [snapshots, sandbox] = [emulator.sandboxes.snapshots(emulator.sandbox), emulator.sandbox]
  const number = (round: number): number => round
  await time(`save, ${where}`, number, (round) => snapshots.save(`s${round}`))
  const page = () => post('/pages', '{"name": "x"}')
  await time(`restore after one more page, ${where}`, page, () => snapshots.restore('s0'))
  const batch = async () => {
    await post('/batch-predictions', BATCH)
    await advance(sandbox, { to: (now) => now + 3_600_000 })
  }
  await time(`restore after one more batch and the end of both, ${where}`, batch, () =>
    snapshots.restore('s0'),
  )
  const state = await snapshots.sandbox('s0')
  const persist = where === 'on the disk'
  await time(`fork, ${where}`, number, (n) => emulator.sandboxes.create(`fork-${n}`, { state }, persist))
  await time(`reset, ${where}`, page, () => emulator.sandboxes.reset(sandbox))
  if (persist) {
    await emulator.close()
    emulator = await openEmulator(options)
    const again = emulator.sandboxes.snapshots(emulator.sandbox)
    await time('restore from a file that has not been read yet', number, (n) => again.restore(`s${n}`))
  }
  await emulator.close()
}

await bench('in memory')
await bench('on the disk')
