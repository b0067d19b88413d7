import { Recording } from '../../src/core/record/recording.ts'
import { openEmulator } from '../../src/emulator/emulator.ts'
import { collectGarbage } from '../support/collect-garbage.ts'
import { load, type Shot } from './load.ts'
import { median, say } from './servers.ts'

/**
 * `npx tsx test/bench/recording.ts`: what the recording costs a request, and its memory. Rounds with and without it alternate in
 * one process; without it, its methods are replaced here. Client and server share the process. Nothing is asserted.
 */
const ROUNDS = 20
const REQUESTS = 3_000
const KEPT = 10_000
const CONNECTIONS = 8

const { begin, add, read } = Recording.prototype

function record(isOn: boolean): void {
  Object.assign(Recording.prototype, isOn ? { begin, add, read } : { begin() {}, add() {}, read() {} })
}

const shot = { method: 'GET', path: '/v1/organization/teamspaces/teamspace-harbor/users?limit=20' }
const SHOTS: Readonly<Record<string, Omit<Shot, 'port' | 'key'>>> = {
  'list 20 users': shot,
  'create a page': { method: 'POST', path: '/v1/pages', body: '{"name":"Roof plan"}' },
}

const open = () => openEmulator({ port: 0, ephemeral: true, limits: false, rate: 0 })
const aimed = (port: number, shot: Omit<Shot, 'port' | 'key'>): Shot => ({
  ...shot,
  port,
  key: 'live_demo_owner',
})

/** Microseconds of one request. */
async function timeOf(shot: Shot, requests: number): Promise<number> {
  return 1e6 / (await load(shot, { requests }, CONNECTIONS))
}

for (const [what, shot] of Object.entries(SHOTS)) {
  const emulator = await open()
  const target = aimed(emulator.port, shot)
  for (const isOn of [true, false, true]) {
    record(isOn)
    await timeOf(target, REQUESTS)
  }
  const [on, off, more]: [number[], number[], number[]] = [[], [], []]
  for (let round = 0; round < ROUNDS; round++) {
    const times = new Map<boolean, number>()
    // Each order as often as the other: the heap grows from one to the next.
    for (const isOn of round % 2 === 0 ? [true, false] : [false, true]) {
      record(isOn)
      collectGarbage()
      times.set(isOn, await timeOf(target, REQUESTS))
    }
    on.push(times.get(true) ?? 0)
    off.push(times.get(false) ?? 0)
    more.push((times.get(true) ?? 0) - (times.get(false) ?? 0))
  }
  const sorted = more.toSorted((a, b) => a - b)
  const quarter = (n: number) => (sorted[Math.floor((ROUNDS * n) / 4)] ?? 0).toFixed(1)
  say(what, `${median(on).toFixed(1)} µs with, ${median(off).toFixed(1)} µs without recording`)
  say('', `difference ${median(more).toFixed(1)} µs, middle half ${quarter(1)} to ${quarter(3)} µs`)
  await emulator.close()
}

for (const [what, shot] of Object.entries(SHOTS)) {
  const heaps: string[] = []
  for (const isOn of [true, false]) {
    record(isOn)
    const emulator = await open()
    const target = aimed(emulator.port, shot)
    await timeOf(target, 100)
    collectGarbage()
    const before = process.memoryUsage().heapUsed
    await timeOf(target, KEPT)
    collectGarbage()
    heaps.push(((process.memoryUsage().heapUsed - before) / 1e6).toFixed(1))
    await emulator.close()
  }
  say(`heap after ${KEPT}: ${what}`, `${heaps[0]} MB more with, ${heaps[1]} MB without recording`)
}
