import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Chance } from '../../../src/core/random.ts'
import { change } from '../../../src/core/sandboxes/change.ts'
import type { Row } from '../../../src/core/state/commit.ts'
import { FAILED_EVENTS } from '../../../src/core/state/state.ts'
import { openEmulator, type RunningEmulator } from '../../../src/emulator.ts'
import { atLeast, type Figure, none, type Proof, type Scale, tried } from '../proof.ts'

/** The number of histories, and of steps in each. */
const SIZES = {
  short: { histories: 12, steps: 12 },
  long: { histories: 300, steps: 30 },
} as const satisfies Record<Scale, object>

const SEED = 20_260_312
const SECOND = 1_000
const HOUR = 3_600 * SECOND
const YEAR = 8_760 * HOUR
const START = Date.parse('2026-03-01T12:00:00.000Z')

/** Promises for a changed host clock: a jump back beyond this is reported, a jump ahead beyond this is also followed. */
const BACK = -1 * SECOND
const AHEAD = 10 * SECOND

/** T2: the host's clock. */
export const t2: Proof = {
  id: 'T2',
  promise:
    'However the clock of the machine is changed, while the emulator runs or between two runs, virtual time continues at its rate, never goes back, and follows a machine that has slept.',
  run: (scale, say) => runHistories(SIZES[scale], say),
}

/** A machine whose clock can be set, and the expected virtual time on it. */
class Machine {
  wall = START + YEAR
  elapsed = 0
  /** The sum of all changes to the wall clock since the emulator last read it. */
  drift = 0
  virtual = START
  readonly rate: number
  readonly host = Object.assign(() => this.wall, { elapsed: () => this.elapsed })

  constructor(rate: number) {
    this.rate = rate
  }

  pass(ms: number): void {
    this.wall += ms
    this.elapsed += ms
    this.virtual += ms * this.rate
  }

  set(by: number): void {
    this.wall += by
    this.drift += by
  }

  /** The emulator reads the host's clock. @returns whether it has something to report */
  look(): boolean {
    if (this.drift >= BACK && this.drift <= AHEAD) return false
    this.virtual += Math.max(0, this.drift) * this.rate
    this.drift = 0
    return true
  }

  /** Between two processes only the wall clock is available, and only its forward part counts. */
  sleep(ms: number, set: number): void {
    this.wall += ms + set
    // Another process has another origin of its monotonic clock.
    this.elapsed = ms
    this.virtual += Math.max(0, ms + set + Math.max(0, this.drift)) * this.rate
    this.drift = 0
  }
}

interface Tally {
  looks: number
  restarts: number
  jumps: number
  differences: number
  backwards: number
  unsaid: number
}

async function runHistories(
  { histories, steps }: { readonly histories: number; readonly steps: number },
  say: (line: string) => void,
): Promise<readonly Figure[]> {
  const tally: Tally = { looks: 0, restarts: 0, jumps: 0, differences: 0, backwards: 0, unsaid: 0 }
  for (let n = 0; n < histories; n++) {
    const folder = mkdtempSync(join(tmpdir(), 'workspace-proof-'))
    try {
      await history(folder, new Chance(SEED, n), steps, tally, (line) => say(`T2: history ${n}: ${line}`))
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  }
  return [
    tried('reads of the clock', tally.looks),
    atLeast('jumps of the host clock', tally.jumps, histories),
    atLeast('restarts', tally.restarts, histories),
    none('instants other than those of the model', tally.differences),
    none('backward moves of virtual time', tally.backwards),
    none('jumps that the log does not report, or reports without a jump', tally.unsaid),
  ]
}

async function history(
  data: string,
  chance: Chance,
  steps: number,
  tally: Tally,
  say: (line: string) => void,
): Promise<void> {
  const machine = new Machine(chance.pick([1, 1, 60, 0.5]))
  const warnings: string[] = []
  const logger = { info: () => {}, warn: (text: string) => void warnings.push(text), error: say }
  const { host, rate } = machine
  const clock = new Date(START).toISOString()
  const open = () => openEmulator({ port: 0, data, fixtures: 'empty', clock, rate, hostTime: host, logger })
  let emulator: RunningEmulator = await open()
  let before = 0
  try {
    for (let step = 0; step < steps; step++) {
      const jump = jumpOf(chance)
      const ms = chance.pick([0, 1, 999, 60 * SECOND, HOUR])
      if (step === Math.floor(steps / 2) || chance.int(0, 9) === 0) {
        // The time since the last reading is not saved yet, so the emulator reads the clock before it ends.
        look(emulator)
        await emulator.close()
        machine.sleep(ms, jump)
        tally.restarts += 1
        emulator = await open()
      } else {
        machine.pass(ms)
        machine.set(jump)
      }
      if (jump !== 0) tally.jumps += 1
      const wanted = machine.look() ? 1 : 0
      const told = warnings.length
      const now = look(emulator)
      tally.looks += 1
      if (warnings.length - told !== wanted) {
        tally.unsaid += 1
        say(`step ${step}: ${warnings.length - told} warnings instead of ${wanted}`)
      }
      if (now < before) tally.backwards += 1
      // The saved clock has whole milliseconds of the host.
      if (Math.abs(now - machine.virtual) > 2 * Math.max(1, rate) * (tally.restarts + 1)) {
        tally.differences += 1
        say(`step ${step}: ${now - machine.virtual} ms off after ${ms} ms and a jump of ${jump} ms`)
      }
      before = now
    }
  } finally {
    await emulator.close()
  }
}

// Like a request that writes: due events run, and a commit saves the instant.
function look({ sandbox }: RunningEmulator): number {
  change(sandbox, ({ tx, at }) => tx.put(FAILED_EVENTS, lookedAt(at)))
  return sandbox.clock.now
}

// A record that every start accepts and that has no effect on the clock.
function lookedAt(at: string): Row {
  return { id: 'look', kind: 'look', ref: 'looks/1', due_at: at, error: 'A look at the clock.' } as Row
}

function jumpOf(chance: Chance): number {
  const draw = chance.int(0, 9)
  if (draw < 4) return 0
  if (draw < 6) return chance.pick([-HOUR, -8 * HOUR, -2 * SECOND])
  if (draw < 8) return chance.pick([HOUR, 8 * HOUR, 11 * SECOND])
  return chance.pick([10 * YEAR, -10 * YEAR, 500, -500])
}
