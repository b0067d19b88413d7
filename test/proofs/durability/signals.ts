import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Chance } from '../../../src/core/random.ts'
import { Client, Refused } from '../client.ts'
import { below, type Figure, none, type Proof, type Scale, timing, tried } from '../proof.ts'
import { pause, Stage, type Started, within } from '../stage.ts'

const TRIALS = { short: 3, long: 100 }

const UNTIL_GONE = 2_000

/** Maximum milliseconds between two signals of one pair. */
const PAIR = 50

interface Way {
  readonly name: string
  readonly signals: readonly NodeJS.Signals[]
}

/** The default sandbox, and a second one that is saved to disk. */
const SANDBOXES = ['', '/@kept']

const WAYS: readonly Way[] = [
  { name: 'SIGINT', signals: ['SIGINT'] },
  { name: 'SIGINT twice', signals: ['SIGINT', 'SIGINT'] },
  { name: 'SIGTERM', signals: ['SIGTERM'] },
  { name: 'SIGHUP', signals: ['SIGHUP'] },
]

/** Files that no stop may delete: files of the emulator, and one that a user has added. */
const KEPT = [
  'default.json',
  'notes.txt',
  join('sandboxes', 'kept.json'),
  join('snapshots', 'default', 's-1.json'),
  join('snapshots', 'kept', 's-1.json'),
]

interface Tally {
  acknowledged: number
  refused: number
  deleted: number
  wrongCodes: number
  slowest: number
}

export const d7: Proof = {
  id: 'D7',
  promise:
    'After a signal the emulator exits in order and quickly: no acknowledged write is lost, and nothing is deleted.',
  run: async (scale, say) => {
    const trials = TRIALS[scale]
    const chance = new Chance(7, 'signals')
    await using stage = new Stage()
    const data = join(stage.folder, 'data')
    const known = new Set<string>()
    const tally: Tally = { acknowledged: 0, refused: 0, deleted: 0, wrongCodes: 0, slowest: 0 }
    await prepare(stage, data)
    for (let trial = 0; trial < trials; trial++) {
      const way = WAYS[trial % WAYS.length] as Way
      const { ms, code } = await end(stage, way, chance, known, tally)
      const missing = KEPT.filter((name) => !existsSync(join(data, name)))
      tally.deleted += missing.length
      tally.slowest = Math.max(tally.slowest, ms)
      // Code 0, or the code that shells use for a process ended by the second signal.
      if (code !== 0 && !(way.signals.length > 1 && code === 130)) tally.wrongCodes += 1
      if (missing.length > 0) say(`D7: ${way.name} has deleted ${missing.join(', ')}`)
      if ((trial + 1) % 20 === 0) say(`D7: ${trial + 1} of ${trials} ends, ${known.size} writes acknowledged`)
    }
    tally.acknowledged = known.size
    return figures(scale, trials, tally, await lost(stage, known))
  },
}

function figures(scale: Scale, trials: number, tally: Tally, missing: number): Figure[] {
  return [
    tried('exits by a signal', `${trials}: ${WAYS.map(({ name }) => name).join(', ')}`),
    tried('writes acknowledged in these runs', tally.acknowledged),
    none('acknowledged writes lost', missing),
    none('writes with an error response', tally.refused),
    none('files or folders deleted', tally.deleted),
    none('wrong exit codes', tally.wrongCodes),
    timing(scale, below('slowest exit', Math.round(tally.slowest), UNTIL_GONE, 'ms')),
  ]
}

/** Creates a persistent sandbox, snapshots, and a file that does not belong to the emulator. */
async function prepare(stage: Stage, data: string): Promise<void> {
  const server = stage.start()
  const port = await server.port
  const client = new Client(port)
  await client.post('/__emulator/sandboxes', { name: 'kept', persist: true })
  for (const prefix of SANDBOXES) await client.post(`${prefix}/__emulator/snapshots`, { name: 's-1' })
  client.close()
  await server.stop()
  mkdirSync(data, { recursive: true })
  writeFileSync(join(data, 'notes.txt'), 'of the user')
}

/** Starts the emulator and two writing clients, sends the signals at a random moment, and measures the end and its exit code. */
async function end(stage: Stage, way: Way, chance: Chance, known: Set<string>, tally: Tally) {
  const server = stage.start()
  const port = await server.port
  const writing = Promise.all(SANDBOXES.map((prefix) => write(port, prefix, known, tally)))
  await pause(chance.int(20, 150))
  const begun = performance.now()
  for (const [n, signal] of way.signals.entries()) {
    if (n > 0) await pause(chance.int(0, PAIR))
    server.signal(signal)
  }
  const { at, code } = await within('the end after a signal', server.ended)
  await writing
  return { ms: at - begun, code }
}

async function write(port: number, prefix: string, known: Set<string>, tally: Tally): Promise<void> {
  const client = new Client(port)
  try {
    for (let n = 0; ; n++)
      known.add(`${prefix} ${(await client.post(`${prefix}/v1/pages`, { name: `${n}` })).id}`)
  } catch (error) {
    if (error instanceof Refused) tally.refused += 1
  } finally {
    client.close()
  }
}

async function lost(stage: Stage, known: ReadonlySet<string>): Promise<number> {
  const server: Started = stage.start()
  const port = await server.port
  const client = new Client(port)
  const there = new Set<string>()
  for (const prefix of SANDBOXES) {
    for (const id of await client.ids('pages', prefix)) there.add(`${prefix} ${id}`)
  }
  client.close()
  await server.stop()
  return [...known].filter((page) => !there.has(page)).length
}
