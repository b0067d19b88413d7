import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Refusal } from '../../../src/core/errors.ts'
import { Snapshots } from '../../../src/core/sandboxes/snapshots.ts'
import { type Opened, open, put, texts } from '../../support/disk-emulator.ts'
import { unsynced } from '../../support/mortal-files.ts'
import { FaultyFiles, type How } from './d3-faulty-files.ts'
import { BY_HAND, EDITED, type Model, type Notes, snapshotsIn, survivors } from './d3-survivors.ts'
import { crashedEmulator } from './d6-state.ts'

/** The files at the start of each run: those of a killed process, with half a line and half a checkpoint. */
export interface Beginning {
  readonly files: ReadonlyMap<string, Buffer>
  readonly notes: Notes
}

/** The problems of a run; all empty if the run is correct. */
export interface Verdict {
  readonly lost: readonly string[]
  readonly crashes: readonly string[]
  readonly unreadable: readonly string[]
  readonly operations: readonly string[]
  readonly struck: boolean
}

const COMMITS = 140
const EVERY = 20
/** In milliseconds. */
const UNTIL_CLOSED = 10_000
/** The numbers of the commits before an edit and during its checkpoint. */
const [BEFORE_EDIT, AFTER_EDIT] = [47, 49]
const INVALID = '{'

/** @param folder an empty folder */
export async function beginning(folder: string): Promise<Beginning> {
  const file = join(folder, 'sandbox.json')
  const { files } = await crashedEmulator(file, 'a failed checkpoint')
  const again = await open(file, { files: unsynced })
  const notes = texts(again.sandbox)
  await again.persistence.close()
  const log = files.get('sandbox.json.journal') ?? Buffer.alloc(0)
  const left: [string, Buffer][] = [
    ['sandbox.json.journal', Buffer.concat([log, log.subarray(0, 50)])],
    ['sandbox.json.left-over.tmp', Buffer.from('{')],
    ['sandbox.json.lock', Buffer.from(JSON.stringify({ pid: 2 ** 22 + 1, started: '1', id: 'gone' }))],
  ]
  return { files: new Map([...files, ...left]), notes }
}

/** Runs with a fault at one operation, starts again, and compares. @param parent the folder in which the run gets its own */
export async function liveWith(at: number, how: How, parent: string, begin: Beginning): Promise<Verdict> {
  const folder = mkdtempSync(join(parent, 'life-'))
  for (const [name, content] of begin.files) writeFileSync(join(folder, name), content)
  const faulty = new FaultyFiles(at, how)
  const model: Model = {
    notes: begin.notes,
    possible: begin.notes,
    snapshots: new Map(),
    unsure: [],
    edited: false,
    refused: false,
  }
  try {
    const life = new Life(join(folder, 'sandbox.json'), faulty, how, model)
    await life.run()
    const after = await survivors(folder, model)
    const { done: operations, hasStruck: struck } = faulty
    return { ...after, crashes: life.crashes, operations, struck }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** A sandbox that is opened, written, checkpointed, saved to snapshots, edited by hand, and closed. */
class Life {
  readonly crashes: string[] = []
  readonly #file: string
  readonly #faulty: FaultyFiles
  readonly #how: How
  readonly #model: Model

  constructor(file: string, faulty: FaultyFiles, how: How, model: Model) {
    this.#file = file
    this.#faulty = faulty
    this.#how = how
    this.#model = model
  }

  /** Resolves when the run is over, whether it ended in order or its process died. */
  async run(): Promise<void> {
    const { files } = this.#faulty
    const emulator = await open(this.#file, { files }).catch((error: unknown) => this.#failed(error))
    if (emulator === undefined) return
    const snapshots = new Snapshots(emulator.sandbox, snapshotsIn(dirname(this.#file), files))
    for (let n = 0; n < COMMITS && !this.#faulty.isDead; n++) await this.#step(n, emulator, snapshots)
    const closed = await turning(
      emulator,
      emulator.persistence.close().then(() => 'in order', String),
      UNTIL_CLOSED,
    )
    if (this.#faulty.isDead) return
    if (closed !== 'in order') this.crashes.push(`the end failed: ${closed ?? 'it never came'}`)
    if (this.#model.refused && !this.#hasKept(INVALID)) this.crashes.push('an invalid edit was not kept')
  }

  async #step(n: number, emulator: Opened, snapshots: Snapshots): Promise<void> {
    const checkpoint = n % EVERY === EVERY - 1 ? this.#checkpoint(emulator) : undefined
    this.#commit(emulator, n)
    if (n % 3 === 0) await new Promise((next) => setImmediate(next))
    await turning(emulator, checkpoint)
    if (n % 35 === 10) await this.#save(emulator, snapshots, `s-${n % 2}`)
    if (n === 100) await this.#forget(snapshots, 's-1')
    if (n === 60) await this.#edit(emulator)
  }

  /** Resolves to true if the checkpoint was written. */
  #checkpoint({ persistence }: Opened): Promise<boolean> {
    return persistence.checkpointNow().then(
      () => true,
      (error: unknown) => {
        this.#failed(error)
        return false
      },
    )
  }

  #commit({ sandbox }: Opened, n: number): void {
    const id = `n-${n % 50}`
    const text = n % 7 === 6 ? undefined : `text ${n}`
    const { [id]: _, ...others } = texts(sandbox)
    this.#model.possible = text === undefined ? others : { ...texts(sandbox), [id]: text }
    try {
      put(sandbox, id, text)
    } catch (error) {
      this.#failed(error)
    }
    if (!this.#faulty.isDead) this.#model.notes = texts(sandbox)
  }

  async #save({ sandbox }: Opened, snapshots: Snapshots, name: string): Promise<void> {
    const notes = texts(sandbox)
    const saved = await this.#attempt(name, notes, () => snapshots.save(name))
    if (saved) this.#model.snapshots.set(name, notes)
  }

  async #forget(snapshots: Snapshots, name: string): Promise<void> {
    if (!this.#model.snapshots.has(name)) return
    const deleted = await this.#attempt(name, undefined, () => snapshots.delete(name))
    if (deleted) this.#model.snapshots.delete(name)
  }

  async #attempt(name: string, notes: Notes | undefined, work: () => Promise<unknown>): Promise<boolean> {
    this.#model.unsure.push({ name, notes })
    try {
      await work()
    } catch (error) {
      this.#failed(error)
      return false
    }
    this.#model.unsure = this.#model.unsure.filter((each) => each.name !== name)
    return true
  }

  // The commit before the edit is in the journal, but not in the edited file.
  async #edit(emulator: Opened): Promise<void> {
    if ((await turning(emulator, this.#checkpoint(emulator))) !== true) return
    this.#commit(emulator, BEFORE_EDIT)
    if (this.#faulty.isDead) return
    const document = JSON.parse(readFileSync(this.#file, 'utf8'))
    document.collections.notes.push({ id: BY_HAND, text: EDITED })
    writeFileSync(this.#file, JSON.stringify(document))
    this.#model.edited = true
    const checkpoint = this.#checkpoint(emulator)
    await new Promise((next) => setImmediate(next))
    if (!this.#faulty.isDead) this.#commit(emulator, AFTER_EDIT)
    await turning(emulator, checkpoint)
    if (!this.#faulty.isDead) await this.#refusedEdit(emulator)
  }

  async #refusedEdit(emulator: Opened): Promise<void> {
    this.#model.notes = texts(emulator.sandbox)
    // Skipped where the file may still change: a write may be pending, a full disk cannot keep the refused file, and an
    // invalid file leaves nothing to load after a kill.
    const isRisky = ['full', 'before', 'after', 'half'].includes(this.#how)
    if (isRisky || this.#model.notes[BY_HAND] !== EDITED) return
    writeFileSync(this.#file, INVALID)
    this.#model.refused = true
    await turning(emulator, this.#checkpoint(emulator))
  }

  #hasKept(text: string): boolean {
    const folder = dirname(this.#file)
    const kept = readdirSync(folder).filter((name) => name.includes('.rejected-'))
    return kept.some((name) => readFileSync(join(folder, name), 'utf8') === text)
  }

  // Errors of the system must be reported as such, and no other error may occur.
  #failed(error: unknown): undefined {
    const { isDead } = this.#faulty
    const isRefusal = error instanceof Refusal && error.code === 'storage_unavailable'
    const isSystem = error instanceof Error && ('syscall' in error || 'code' in error)
    if (!isDead && !isRefusal && !isSystem) this.crashes.push(String(error))
  }
}

/** Fires timers until a promise is settled. Gives up after `patience` milliseconds, for a promise that waits for a full disk. */
async function turning<T>(
  { timers }: Opened,
  promise: Promise<T> | undefined,
  patience = 100,
): Promise<T | undefined> {
  let over = promise === undefined
  const done = promise?.finally(() => {
    over = true
  })
  const begun = performance.now()
  for (let turn = 1; !over && (turn < 1_000 || performance.now() - begun < patience); turn++) {
    await new Promise((next) => setImmediate(next))
    if (turn % 20 === 0) timers.fire()
  }
  return over ? done : undefined
}
