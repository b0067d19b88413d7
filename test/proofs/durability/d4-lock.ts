import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { below, type Figure, none, type Proof, tried } from '../proof.ts'
import { type Ending, Stage, type Started } from '../stage.ts'
import { timing } from '../timing.ts'

const SIZES = {
  short: { starts: 6, rounds: 2 },
  long: { starts: 50, rounds: 4 },
}

/** Maximum milliseconds of the start after a kill. */
const RESTART = 1_000

/** The result of one round of simultaneous starts. */
interface Round {
  readonly winners: readonly Started[]
  /** Losers that did not end with code 1 and one line that names a process of this round. */
  readonly unclear: readonly string[]
}

/**
 * D4: many processes start on one directory at once. In the first round it is empty; in the others it contains the lock of a
 * killed process, which each of them tries to take over.
 */
export const d4: Proof = {
  id: 'D4',
  promise:
    'Exactly one of several simultaneous starts on one directory succeeds, and a killed process leaves nothing to clean up.',
  run: async (scale, say) => {
    const { starts, rounds } = SIZES[scale]
    await using stage = new Stage()
    let [wrong, unclear, slowest, locked] = [0, 0, 0, 0]
    for (let round = 0; round < rounds; round++) {
      const seen = await contest(stage, starts)
      if (seen.winners.length !== 1) wrong += 1
      unclear += seen.unclear.length
      for (const line of seen.unclear) say(`D4: a loser said: ${line}`)
      say(`D4: round ${round + 1} of ${rounds}: ${starts} starts, ${seen.winners.length} won`)
      await kill(seen.winners)
      if (existsSync(lockOf(stage))) locked += 1
      const again = stage.start()
      await again.port
      slowest = Math.max(slowest, performance.now() - again.startedAt)
      await kill([again])
    }
    return figures(scale, { starts, rounds, wrong, unclear, slowest, locked })
  },
}

function figures(
  scale: 'short' | 'long',
  seen: { starts: number; rounds: number; wrong: number; unclear: number; slowest: number; locked: number },
): Figure[] {
  return [
    tried('simultaneous starts on one directory', `${seen.starts} in each of ${seen.rounds} rounds`),
    tried('rounds that left the lock of a killed process', seen.locked),
    none('rounds without exactly one winner', seen.wrong),
    none('losers without a clear message', seen.unclear),
    timing(scale, below('slowest start after kill -9', Math.round(seen.slowest), RESTART, 'ms')),
  ]
}

/** Starts all at once. Each process that becomes ready has won; it keeps running. */
async function contest(stage: Stage, count: number): Promise<Round> {
  const all = Array.from({ length: count }, () => stage.start())
  const pids = all.map(({ child }) => child.pid)
  const [winners, unclear]: [Started[], string[]] = [[], []]
  const runEvents = async (each: Started): Promise<void> => {
    // A process that ended before it was ready rejects the promise of its port.
    const isReady = await each.port.then(
      () => true,
      () => false,
    )
    if (isReady) winners.push(each)
    else if (!isClear(each.errors, await each.ended, pids)) unclear.push(each.errors)
  }
  await Promise.all(all.map(runEvents))
  return { winners, unclear }
}

function isClear(errors: string, { code }: Ending, pids: readonly (number | undefined)[]): boolean {
  const named = /data is in use by process (\d+)\. Stop that process, or choose another/.exec(errors)
  return code === 1 && errors.trim().split('\n').length === 1 && pids.includes(Number(named?.[1]))
}

async function kill(all: readonly Started[]): Promise<void> {
  for (const each of all) each.signal('SIGKILL')
  await Promise.all(all.map(({ ended }) => ended))
}

function lockOf({ folder }: Stage): string {
  return join(folder, 'data', 'lock')
}
