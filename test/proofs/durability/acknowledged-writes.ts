import { type KillReport, killRounds } from '../../crash/kill-rounds.ts'
import { atLeast, type Figure, none, type Proof, tried } from '../proof.ts'

/** Each part is a new sandbox, so that restarts do not slow down as it grows. */
const SIZES = {
  short: { parts: 1, rounds: 3 },
  long: { parts: 10, rounds: 100 },
}

/** No part starts after this many milliseconds. */
const MAX_DURATION = 8 * 60_000

/** D1: kill -9 at random moments while four clients write. A kill at each operation of a checkpoint is a test of the storage. */
export const d1: Proof = {
  id: 'D1',
  promise:
    'No acknowledged write is lost, repeated or left without its webhook when the process is killed during a write.',
  run: async (scale, say) => {
    const { parts, rounds } = SIZES[scale]
    const begun = performance.now()
    const reports: KillReport[] = []
    for (let part = 1; part <= parts && performance.now() - begun < MAX_DURATION; part++) {
      const report = await killRounds(rounds, part)
      reports.push(report)
      say(`D1: part ${part} of ${parts}: ${rounds} kills, ${report.acknowledged} writes acknowledged`)
    }
    return figures(reports)
  },
}

function figures(reports: readonly KillReport[]): Figure[] {
  const sum = (of: keyof KillReport): number => reports.reduce((total, report) => total + report[of], 0)
  return [
    tried('kills', sum('rounds')),
    atLeast('acknowledged writes', sum('acknowledged'), sum('rounds')),
    none('acknowledged pages lost', sum('lost')),
    none('batches created twice, agents claimed twice', sum('doubled')),
    none('ends of batches without a webhook', sum('untold')),
    none('snapshots that cannot be restored', sum('unrestorable')),
    none('restarts with an unreadable file', sum('unreadable')),
    none('writes with an error response', sum('refused')),
  ]
}
