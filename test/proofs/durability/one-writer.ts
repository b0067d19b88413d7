import { readFileSync } from 'node:fs'
import { contests } from '../../support/lock-contenders.ts'
import { Client, Refused } from '../client.ts'
import { atLeast, below, type Figure, none, type Proof, type Scale, timing, tried } from '../proof.ts'
import { namespacesArePermitted, Stage, type Started, within } from '../stage.ts'

const SIZES = {
  short: { starts: 2, servers: 1, silences: 1, rounds: 10 },
  long: { starts: 8, servers: 5, silences: 6, rounds: 100 },
}

/** Pages that are written to every emulator that has started. */
const PAGES = 120

/** Milliseconds until a start may take the folder from a silent process in another place. */
const TAKE_OVER = 7_000

class Tally {
  acknowledged = 0
  lost = 0
  twice = 0
  /** Writes that were acknowledged after the process had lost the folder. */
  late = 0
  /** Writes that were refused because the process had lost the folder. */
  refused = 0
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

const CONTENDERS = 8

/**
 * D8: locks are contested, and then folders of emulators, each in a pid namespace of its own: as containers on one volume, they
 * cannot see each other's processes. `test/spec/data-lock.test.ts` contests locks within one namespace.
 */
export const d8: Proof = {
  id: 'D8',
  promise:
    'Only one of several isolated processes writes to a folder, and a process that has lost it acknowledges no more writes.',
  run: async (scale, say) => {
    const { starts, servers, silences, rounds } = SIZES[scale]
    if (!namespacesArePermitted()) return [tried('pid namespaces', 'NOT PERMITTED HERE')]
    // A start waits for 5 s for a holder elsewhere, so ten folders are contested at the same time.
    const wrong = await contests('separate namespaces', { starts: CONTENDERS, rounds, batch: 10 })
    for (const each of wrong) say(`D8: ${JSON.stringify(each)}`)
    const tally = new Tally()
    for (let n = 0; n < servers; n++) await contest(starts, tally, say)
    for (let n = 0; n < silences; n++) await silence(n, scale, tally, say)
    return [
      tried(`rounds of ${CONTENDERS} simultaneous starts on a stale lock`, rounds),
      none('rounds without exactly one holder', wrong.length),
      ...real(scale, tally),
    ]
  },
}

function real(scale: Scale, tally: Tally): Figure[] {
  const { starts, servers, silences } = SIZES[scale]
  return [
    tried('contests of simultaneous emulators in separate namespaces', `${servers} of ${starts}`),
    tried('holders killed or stopped in their namespace', silences),
    tried('pages acknowledged', tally.acknowledged),
    none('contests without exactly one winner and clear losers', tally.wrong),
    none('acknowledged pages lost', tally.lost),
    none('ids issued twice', tally.twice),
    none('writes acknowledged after the folder was lost', tally.late),
    atLeast('writes refused with 507 after the folder was lost', tally.refused, 1),
    timing(scale, below('slowest take-over of a silent holder', Math.round(tally.slowest), TAKE_OVER, 'ms')),
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
    if (/data is in use by process 1 on host \\?"/.test(each.errors)) continue
    tally.wrong += 1
    say(`D8: a loser said: ${each.errors}`)
  }
  if (winners.length !== 1) tally.wrong += 1
  await Promise.all(winners.map((port) => write(port, tally)))
  await Promise.all(all.map((each) => end(each, 'SIGTERM')))
  await compare(stage, tally, say)
  say(`D8: ${starts} starts in namespaces, ${winners.length} won`)
}

/** Stops or kills the owner during writes; another takes over. An owner that continues must find that it has lost the folder. */
async function silence(n: number, scale: Scale, tally: Tally, say: (line: string) => void): Promise<void> {
  const signal = n % 3 === 2 ? 'SIGKILL' : 'SIGSTOP'
  await using stage = new Stage()
  const holder = stage.start({ inNamespace: true })
  const holderPort = await holder.port
  await write(holderPort, tally)
  // A write that is in the journal when the process is stopped may be acknowledged after it continues: it is not lost.
  const underWay = write(holderPort, tally)
  signalInside(holder, signal)
  const next = stage.start({ inNamespace: true })
  const port = await next.port
  tally.slowest = Math.max(tally.slowest, performance.now() - next.startedAt)
  await write(port, tally)
  if (signal === 'SIGSTOP') {
    signalInside(holder, 'SIGCONT')
    tally.refused += await write(holderPort, tally, () => (tally.late += 1))
  }
  await underWay
  await write(port, tally)
  await Promise.all([holder, next].map((each) => end(each, 'SIGTERM')))
  await compare(stage, tally, say)
  say(`D8: ${scale}: after ${signal}, ${tally.refused} writes refused, ${tally.late} acknowledged too late`)
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
        if (!(error instanceof Refused) || error.status !== 507) throw error
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
