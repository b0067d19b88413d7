import { openEmulator } from '../../src/emulator/emulator.ts'
import { chooseForApi, type Signs } from '../../src/server/selection.ts'
import { collectGarbage } from '../support/collect-garbage.ts'
import { load, type Shot } from './load.ts'
import { median, say } from './servers.ts'

/**
 * `npx tsx test/bench/sandboxes.ts`: the cost of many sandboxes in one process (1,000 by default), and the cost of selecting
 * one in a request. A sandbox should need less than 1 ms and 200 kB, and selecting one almost nothing.
 */
const [COUNT = 1_000] = process.argv.slice(2).map(Number)
const KEY = 'live_demo_owner'
const CONNECTIONS = 32
const ROUNDS = 5

function heap(): number {
  collectGarbage()
  return process.memoryUsage().heapUsed
}

const emulator = await openEmulator({ port: 0, ephemeral: true, limits: false })
const ways: readonly [way: string, path: string, key: string][] = [
  ['none', '/v1/pages', KEY],
  ['path', '/@bench-1/v1/pages', KEY],
  ['token', '/v1/pages', `${KEY}@bench-1`],
]

async function benchCreation(): Promise<void> {
  await emulator.sandboxes.open('warm')
  const before = heap()
  const begin = performance.now()
  for (let n = 0; n < COUNT; n++) await emulator.sandboxes.open(`bench-${n}`)
  const each = (performance.now() - begin) / COUNT
  say(`make a sandbox, ${COUNT} times`, `${each.toFixed(3)} ms and ${perSandbox(before)} kB each`)
  const start = performance.now()
  for (let n = 0; n < COUNT; n++) {
    const response = await fetch(`${emulator.baseUrl.replace('/v1', `/@bench-${n}/v1`)}/data-views`, {
      headers: { authorization: `Bearer ${KEY}` },
    })
    if (response.status !== 200) throw new Error(`the response was ${response.status}`)
    await response.arrayBuffer()
  }
  const first = (performance.now() - start) / COUNT
  const figures = `${first.toFixed(3)} ms; then ${perSandbox(before)} kB each`
  say('first request of each, HTTP and client included', figures)
}

function perSandbox(before: number): string {
  return ((heap() - before) / COUNT / 1000).toFixed(1)
}

function benchChoice(): void {
  const turns = 2_000_000
  for (const [way, path, key] of ways) {
    const signs: Signs = { headers: { authorization: `Bearer ${key}`, host: 'x' }, headersDistinct: {} }
    const begin = performance.now()
    let found = 0
    for (let n = 0; n < turns; n++) {
      if (emulator.sandboxes.get(chooseForApi(path, signs).name) !== undefined) found += 1
    }
    const each = ((performance.now() - begin) / turns) * 1e6
    if (found !== turns) throw new Error(`by ${way} no sandbox was found`)
    say(`choose by ${way}`, `${each.toFixed(0)} ns`)
  }
}

async function benchRequests(): Promise<void> {
  const rates = new Map<string, number[]>()
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [way, path, key] of ways) {
      const target = path.replace('/pages', '/data-views?limit=1')
      const shot: Shot = { port: emulator.port, method: 'GET', path: target, key }
      const rate = await load(shot, { requests: 4_000 }, CONNECTIONS)
      // The first round warms up.
      if (round > 0) rates.set(way, [...(rates.get(way) ?? []), rate])
    }
  }
  for (const [way, list] of rates) say(`list data views, chosen by ${way}`, `${Math.round(median(list))}/s`)
}

await benchCreation()
benchChoice()
await benchRequests()
await emulator.close()
