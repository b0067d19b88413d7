import fc from 'fast-check'
import { batchLifecycle } from '../../../src/service/batch-predictions/states.ts'
import { MODEL_CANCEL_DELAY, MODEL_PACE } from '../../support/batch-model.ts'
import { atLeast, none, type Proof, type Scale, tried } from '../proof.ts'
import { COMMANDS, checkEnd, type Real } from './commands.ts'
import { type Model, newModel } from './model.ts'
import { runRaces } from './races.ts'
import { type Origin, originOf, sandboxFrom } from './starting-sandbox.ts'

const SIZES = {
  short: { sequences: 60, races: 25 },
  long: { sequences: 10_000, races: 1_000 },
} as const satisfies Record<Scale, object>

const SEED = 20_260_303
const MAX_COMMANDS = 100

const PART = 500

export const f3: Proof = {
  id: 'F3',
  promise:
    'Batches agree with their model after every sequence of requests, time, faults, snapshots and restarts, and a race has exactly one outcome for every order of arrival.',
  run: async (scale, say) => {
    const size = SIZES[scale]
    const origin = await originOf({ 'batch.pace': MODEL_PACE, 'batch.cancel_delay': MODEL_CANCEL_DELAY })
    const tally: Tally = { sequences: 0, commands: 0, divergences: 0, moves: new Set() }
    for (let from = 0; from < size.sequences; from += PART) {
      runSequences(origin, Math.min(PART, size.sequences - from), SEED + from, tally, say)
      say(`F3: ${tally.sequences} sequences, ${tally.commands} commands`)
      if (tally.divergences > 0) break
    }
    return [
      tried('seed', SEED),
      tried('sequences', tally.sequences),
      tried('commands', tally.commands),
      atLeast('status changes that occurred', tally.moves.size, MOVES.size),
      none('divergences from the model', tally.divergences),
      ...(await runRaces(size.races, SEED, say)),
    ]
  },
}

interface Tally {
  sequences: number
  commands: number
  divergences: number
  /** Arrows of the lifecycle that batches have taken. */
  readonly moves: Set<string>
}

/** Without arrows to the same state, such as a second cancel: the model cannot see them. */
const MOVES = new Set(
  batchLifecycle.arrows.filter(({ from, to }) => from !== to).map(({ from, to }) => `${from} ${to}`),
)

function runSequences(
  origin: Origin,
  numRuns: number,
  seed: number,
  tally: Tally,
  say: (line: string) => void,
) {
  const script = fc.commands([fc.oneof(...COMMANDS)], { maxCommands: MAX_COMMANDS, size: 'max' })
  const property = fc.property(script, (commands) => {
    const sandbox = sandboxFrom(origin)
    const model = newModel(sandbox.clock.now)
    const real: Real = { origin, sandbox, saved: undefined, ran: 0 }
    fc.modelRun(() => ({ model, real }), commands)
    checkEnd(model, real)
    count(tally, model, real)
  })
  const details = fc.check(property, { numRuns, seed })
  if (!details.failed) return
  tally.divergences += 1
  say(`F3: ${fc.defaultReportMessage(details)}\n${String(details.errorInstance)}`)
}

function count(tally: Tally, { batches }: Model, { ran }: Real): void {
  tally.sequences += 1
  tally.commands += ran
  for (const { path } of batches.values())
    for (const [n, state] of path.entries()) if (n > 0) tally.moves.add(`${path[n - 1]} ${state}`)
}
