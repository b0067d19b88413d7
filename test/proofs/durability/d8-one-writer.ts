import { readFileSync } from 'node:fs'
import { Client, Refused } from '../client.ts'
import { atLeast, below, type Figure, none, type Proof, type Scale, tried } from '../proof.ts'
import { namespacesArePermitted, Stage, type Started, within } from '../stage.ts'
import { timing } from '../timing.ts'
import { fakedPlaces } from './d8-faked.ts'

const SIZES = {
  short: { starts: 2, contests: 1, silences: 0, rounds: 6 },
  long: { starts: 8, contests: 5, silences: 6, rounds: 60 },
}

/** Pages that are written to every emulator that has started. */
const PAGES = 120

/** Milliseconds until a start may take the folder from a silent process in another place. */
const TAKE_OVER = 7_000

/** The acknowledged writes and the problems. */
export class Tally {
  acknowledged = 0
  lost = 0
  /** Ids that were issued twice. */
  twice = 0
  /** Writes that were acknowledged after the process had lost the folder. */
  late = 0
  /** Writes that were refused because the process had lost the folder. */
  refused = 0
  /** Processes that lost the folder to another. */
  takenOver = 0
  /** Contests without exactly one winner, and losers that did not report the reason. */
  wrong = 0
  slowest = 0
  readonly #ids = new Set<string>()

  acknowledge(id: string): void {
    this.acknowledged += 1
    if (this.#ids.has(id)) this.twice += 1
    this.#ids.add(id)
  }

  /** Compares with the final ids, and resets the list: the next folder has the same ids. */
  compare(there: readonly string[]): void {
    const found = new Set(there)
    this.lost += [...this.#ids].filter((id) => !found.has(id)).length
    this.#ids.clear()
  }
}

/**
 * D8: emulators that cannot see each other's processes, as in containers on one volume, share one folder. They are real
 * processes in separate pid namespaces if the system permits that, and always also emulators with faked places and clocks.
 */
export const d8: Proof = {
  id: 'D8',
  promise:
    'Only one of several isolated processes writes to a folder, and a process that has lost it acknowledges no more writes.',
  run: async (scale, say) => {
    const { starts, contests, silences, rounds } = SIZES[scale]
    const tally = new Tally()
    const isPermitted = namespacesArePermitted()
    if (!isPermitted) say('D8: pid namespaces are not permitted here: only faked places are tried')
    for (let n = 0; isPermitted && n < contests; n++) await contest(starts, tally, say)
    for (let n = 0; isPermitted && n < silences; n++) await silence(n, tally, say)
    const faked = new Tally()
    for (let round = 0; round < rounds; round++) await fakedPlaces(round, faked)
    return [
      tried('pid namespaces', isPermitted ? 'permitted' : 'NOT PERMITTED HERE: only faked places were tried'),
      ...(isPermitted ? real(scale, tally) : []),
      tried('rounds with faked places', rounds),
      atLeast('folders taken over, faked places', faked.takenOver, 1),
      atLeast('writes refused after that, faked places', faked.refused, 1),
      ...counts('faked places', faked),
    ]
  },
}

function real(scale: Scale, tally: Tally): Figure[] {
  const { starts, contests, silences } = SIZES[scale]
  const slowest = below('slowest take-over of a silent holder', Math.round(tally.slowest), TAKE_OVER, 'ms')
  return [
    tried('contests of simultaneous starts in separate namespaces', `${contests} of ${starts}`),
    tried('holders killed or stopped in their namespace', silences),
    ...counts('namespaces', tally),
    ...(silences === 0
      ? []
      : [tried('writes refused after the folder was lost', tally.refused), timing(scale, slowest)]),
  ]
}

function counts(where: string, tally: Tally): Figure[] {
  return [
    tried(`pages acknowledged, ${where}`, tally.acknowledged),
    none(`contests without exactly one winner and clear losers, ${where}`, tally.wrong),
    none(`acknowledged pages lost, ${where}`, tally.lost),
    none(`ids issued twice, ${where}`, tally.twice),
    none(`writes acknowledged after the folder was lost, ${where}`, tally.late),
  ]
}

/** Starts all at once, then writes to each one that is ready. */
async function contest(starts: number, tally: Tally, say: (line: string) => void): Promise<void> {
  await using stage = new Stage()
  const all = Array.from({ length: starts }, () => stage.start({ inNamespace: true }))
  const ports = await Promise.all(all.map(({ port }) => port.catch(() => undefined)))
  const winners = ports.filter((port) => port !== undefined)
  for (const [n, each] of all.entries()) {
    if (ports[n] !== undefined) continue
    await each.ended
    if (/data is in use by process 1 on host \\?".*" \(in another container/.test(each.errors)) continue
    tally.wrong += 1
    say(`D8: a loser said: ${each.errors}`)
  }
  if (winners.length !== 1) tally.wrong += 1
  await Promise.all(winners.map((port) => write(port, tally)))
  await Promise.all(all.map((each) => end(each, 'SIGTERM')))
  await compare(stage, tally, say)
  say(`D8: ${starts} starts in namespaces, ${winners.length} won`)
}

/** Kills or stops the owner during writes; another takes over. An owner that continues must find that it has lost the folder. */
async function silence(n: number, tally: Tally, say: (line: string) => void): Promise<void> {
  const signal = n % 3 === 0 ? 'SIGKILL' : 'SIGSTOP'
  await using stage = new Stage()
  const holder = stage.start({ inNamespace: true })
  const holderPort = await holder.port
  await write(holderPort, tally)
  let hasLost = false
  // Writes in flight at the stop are acknowledged only after it continues, if at all.
  const underWay = write(holderPort, tally, () => {
    tally.late += hasLost ? 1 : 0
  })
  signalInside(holder, signal)
  const next = stage.start({ inNamespace: true })
  const port = await next.port
  tally.slowest = Math.max(tally.slowest, performance.now() - next.startedAt)
  await write(port, tally)
  hasLost = true
  if (signal === 'SIGSTOP') {
    signalInside(holder, 'SIGCONT')
    const refused = await write(holderPort, tally, () => (tally.late += 1))
    tally.refused += refused
  }
  await underWay
  await write(port, tally)
  await Promise.all([holder, next].map((each) => end(each, 'SIGTERM')))
  await compare(stage, tally, say)
  say(`D8: after ${signal}, ${tally.acknowledged} pages acknowledged, ${tally.late} of them late`)
}

/** Writes pages until the process has ended. @returns the number of refused writes */
async function write(port: number, tally: Tally, acknowledged: () => void = () => {}): Promise<number> {
  const client = new Client(port)
  let refused = 0
  try {
    for (let n = 0; n < PAGES; n++) {
      try {
        tally.acknowledge((await client.post('/v1/pages', { name: `${n}` })).id)
        acknowledged()
      } catch (error) {
        if (!(error instanceof Refused)) throw error
        refused += 1
      }
    }
  } catch {
    // The process has ended: writes in flight were not acknowledged.
  } finally {
    client.close()
  }
  return refused
}

async function compare(stage: Stage, tally: Tally, say: (line: string) => void): Promise<void> {
  const last = stage.start()
  const client = new Client(await last.port)
  const before = tally.lost
  tally.compare(await client.ids('pages'))
  client.close()
  await last.stop()
  if (tally.lost > before) say(`D8: ${tally.lost - before} pages are lost`)
}

async function end(each: Started, signal: NodeJS.Signals): Promise<void> {
  if (each.child.exitCode === null && each.child.signalCode === null) signalInside(each, signal)
  await within('the end of a process', each.ended)
}

// The child is `unshare`, whose only child is the first process of the namespace.
function signalInside({ child }: Started, signal: NodeJS.Signals): void {
  const first = Number(readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').trim())
  if (first > 0) process.kill(first, signal)
}
