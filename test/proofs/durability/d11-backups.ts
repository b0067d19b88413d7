import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Chance } from '../../../src/core/random.ts'
import { documentOf } from '../../../src/core/sandboxes/snapshots.ts'
import { checkDocument } from '../../../src/core/state/document.ts'
import type { Document } from '../../../src/core/state/state.ts'
import { type Opened, open, put, testAssumptions, testService } from '../../support/disk-emulator.ts'
import { unsynced } from '../../support/mortal-files.ts'
import { type Figure, none, type Proof, tried } from '../proof.ts'

const SIZES = { short: { lives: 6, steps: 60 }, long: { lives: 300, steps: 150 } }
const SEED = 20_260_312

interface Tally {
  restored: number
  oldest: number
  wrong: number
  unkept: number
  lost: number
}

/** D11: copies of any age replace the state file while the emulator runs, after it has stopped, and after a kill. */
export const d11: Proof = {
  id: 'D11',
  promise: 'An unedited state file of any age restores the sandbox, and the replaced state is kept.',
  run: async (scale, say) => {
    const tally: Tally = { restored: 0, oldest: 0, wrong: 0, unkept: 0, lost: 0 }
    const { lives, steps } = SIZES[scale]
    for (let n = 0; n < lives; n++) {
      const faults = tally.wrong + tally.unkept + tally.lost
      const folder = mkdtempSync(join(tmpdir(), 'workspace-proof-'))
      try {
        await new History(folder, new Chance(SEED, n), tally).run(steps)
      } finally {
        rmSync(folder, { recursive: true, force: true })
      }
      if (tally.wrong + tally.unkept + tally.lost > faults) say(`D11: seed ${SEED}, life ${n}`)
      if ((n + 1) % 50 === 0) say(`D11: ${n + 1} of ${lives} lives`)
    }
    return figures(lives, tally)
  },
}

function figures(lives: number, { restored, oldest, wrong, unkept, lost }: Tally): Figure[] {
  return [
    tried('histories', lives),
    tried('restored copies', `${restored}, up to ${oldest} checkpoints old`),
    none('states that differ from the copy', wrong),
    none('replaced states that were not kept, or cannot be loaded', unkept),
    none('states that were not the same after a restart or a kill', lost),
  ]
}

/** A sandbox with random writes, copies, restored copies, stops and kills. */
class History {
  readonly #folder: string
  readonly #file: string
  readonly #chance: Chance
  readonly #tally: Tally
  readonly #copies: { readonly path: string; readonly content: string; readonly at: number }[] = []
  #checkpoints = 0
  #commits = 0

  constructor(folder: string, chance: Chance, tally: Tally) {
    this.#folder = folder
    this.#file = join(folder, 'sandbox.json')
    this.#chance = chance
    this.#tally = tally
  }

  async run(steps: number): Promise<void> {
    let emulator = await this.#open()
    for (let n = 0; n < steps; n++) {
      const step = this.#chance.int(0, 9)
      if (step < 5) this.#commit(emulator)
      else if (step < 7) await this.#copy(emulator)
      else if (step === 7) await this.#putBackWhileRunning(emulator)
      else emulator = await this.#liveAgain(emulator, step === 8)
    }
    await emulator.persistence.close()
  }

  #open(): Promise<Opened> {
    return open(this.#file, { files: unsynced, start: { a: 'one' } })
  }

  #commit({ sandbox }: Opened): void {
    this.#commits += 1
    const isGone = this.#chance.next() < 0.2
    put(sandbox, `note-${this.#chance.int(0, 9)}`, isGone ? undefined : `text ${this.#commits}`)
  }

  async #copy(emulator: Opened): Promise<void> {
    await emulator.persistence.checkpointNow()
    this.#checkpoints += 1
    const path = join(this.#folder, `copy-${this.#copies.length}`)
    copyFileSync(this.#file, path)
    this.#copies.push({ path, content: contentOf(emulator.sandbox.document()), at: this.#checkpoints })
  }

  /** Replaces the file with one of its copies. @returns the expected state */
  #putBack(): string | undefined {
    const copy = this.#copies[this.#chance.int(0, Math.max(0, this.#copies.length - 1))]
    if (copy === undefined) return undefined
    copyFileSync(copy.path, this.#file)
    this.#tally.restored += 1
    this.#tally.oldest = Math.max(this.#tally.oldest, this.#checkpoints - copy.at)
    return copy.content
  }

  async #putBackWhileRunning(emulator: Opened): Promise<void> {
    const stands = readFileSync(this.#file)
    const before = contentOf(emulator.sandbox.document())
    const expected = this.#putBack()
    // A copy equal to the current file is not an edit, so later writes are kept.
    const isSame = readFileSync(this.#file).equals(stands)
    await emulator.persistence.checkpointNow()
    this.#checkpoints += 1
    if (expected !== undefined)
      this.#compare(emulator, isSame ? before : expected, isSame ? undefined : before)
  }

  /** Stops or kills the emulator, sometimes restores a copy, and starts it again. */
  async #liveAgain(emulator: Opened, killed: boolean): Promise<Opened> {
    const before = contentOf(emulator.sandbox.document())
    const left = new Map(
      readdirSync(this.#folder)
        .filter((name) => name.startsWith('sandbox.json') && !name.includes('.lock'))
        .map((name) => [name, readFileSync(join(this.#folder, name))]),
    )
    await emulator.persistence.close()
    if (killed) {
      for (const name of readdirSync(this.#folder))
        if (name.startsWith('sandbox.json')) rmSync(join(this.#folder, name))
      for (const [name, bytes] of left) unsyncedWrite(join(this.#folder, name), bytes)
    }
    const stands = readFileSync(this.#file)
    const expected = this.#chance.next() < 0.5 ? this.#putBack() : undefined
    const isSame = readFileSync(this.#file).equals(stands)
    const again = await this.#open()
    this.#checkpoints += 1
    if (expected === undefined || isSame) {
      if (contentOf(again.sandbox.document()) !== before) this.#tally.lost += 1
    } else this.#compare(again, expected, before)
    return again
  }

  #compare({ sandbox, notices }: Opened, expected: string, replaced: string | undefined): void {
    if (contentOf(sandbox.document()) !== expected) this.#tally.wrong += 1
    if (replaced === undefined) return
    const kept = notices.findLast(({ event }) => event === 'went_back')?.kept
    if (kept === undefined || loaded(kept) !== replaced) this.#tally.unkept += 1
  }
}

function unsyncedWrite(path: string, bytes: Buffer): void {
  const file = unsynced.open(path, 'wx')
  unsynced.write(file, bytes, 0)
  unsynced.close(file)
}

/** The content of a file as a start would load it. */
function loaded(path: string): string | undefined {
  const checked = checkDocument(JSON.parse(readFileSync(path, 'utf8')), testService, testAssumptions, false)
  return 'issues' in checked ? undefined : contentOf(documentOf(checked.state, testService, 'default'))
}

/** All fields except the number of the last commit, which always increases. */
function contentOf({ revision: _, ...content }: Document): string {
  return JSON.stringify(content)
}
