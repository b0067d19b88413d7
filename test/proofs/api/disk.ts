import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { Persistence } from '../../../src/adapters/storage/persistence.ts'
import { Sandbox } from '../../../src/core/sandboxes/sandbox.ts'
import { later } from '../../../src/core/time/realtime.ts'
import { workspaceService } from '../../../src/emulator/service.ts'
import type { Real, Step } from './commands.ts'
import type { Model } from './model.ts'
import type { Origin } from './starting-sandbox.ts'

const FILE = 'default.json'

/** A sandbox whose state is saved on disk. */
export class DiskReal implements Real {
  readonly origin: Origin
  sandbox: Sandbox
  saved: Real['saved']
  ran = 0
  readonly #root = mkdtempSync(join(tmpdir(), 'proof-'))
  #folder = 0
  #persistence: Persistence | undefined

  private constructor(origin: Origin) {
    this.origin = origin
    this.sandbox = new Sandbox(origin.options, origin.start)
  }

  /** Creates a sandbox in a separate folder; the caller disposes it. */
  static async make(origin: Origin): Promise<DiskReal> {
    const real = new DiskReal(origin)
    await real.#open()
    return real
  }

  /** Closes the files in order and opens them again. */
  async reopen(): Promise<void> {
    await this.#persistence?.close()
    await this.#open()
  }

  /** Opens a copy of the current files, as after a SIGKILL. */
  async die(): Promise<void> {
    const dead = this.#persistence
    const from = this.#path()
    this.#folder += 1
    mkdirSync(this.#path())
    // Without the lock: the dead process no longer holds it.
    for (const name of readdirSync(from))
      if (name === FILE || name.startsWith(`${FILE}.journal`))
        cpSync(join(from, name), join(this.#path(), name))
    await this.#open()
    await dead?.close()
  }

  async dispose(): Promise<void> {
    await this.#persistence?.close()
    rmSync(this.#root, { recursive: true, force: true })
  }

  #path(): string {
    return join(this.#root, String(this.#folder))
  }

  async #open(): Promise<void> {
    mkdirSync(this.#path(), { recursive: true })
    const problems: string[] = []
    const persistence = new Persistence({
      file: join(this.#path(), FILE),
      importCommand: String,
      later,
      onNotice: ({ level, message }) => {
        if (level !== 'info') problems.push(message)
      },
    })
    const loaded = persistence.load(workspaceService, false)
    this.sandbox = new Sandbox(this.origin.options, loaded?.state ?? this.origin.start, loaded?.floor)
    persistence.attach(this.sandbox)
    this.#persistence = persistence
    if (problems.length > 0) throw new Error(problems.join('\n'))
  }
}

/** A step of the model, run on a sandbox on disk. */
export class OnDisk implements fc.AsyncCommand<Model, DiskReal> {
  readonly #step: Step

  constructor(step: Step) {
    this.#step = step
  }

  check(model: Readonly<Model>): boolean {
    return this.#step.check(model)
  }

  async run(model: Model, real: DiskReal): Promise<void> {
    this.#step.run(model, real)
  }

  toString(): string {
    return String(this.#step)
  }
}

/** A restart from the disk; afterwards everything must agree with the model. */
export class Reopen implements fc.AsyncCommand<Model, DiskReal> {
  readonly #isKilled: boolean

  constructor(isKilled: boolean) {
    this.#isKilled = isKilled
  }

  check(): boolean {
    return true
  }

  async run({ now }: Model, real: DiskReal): Promise<void> {
    real.ran += 1
    await (this.#isKilled ? real.die() : real.reopen())
    if (real.sandbox.clock.now !== now)
      throw new Error(`the clock is at ${real.sandbox.clock.now}, not ${now}`)
  }

  toString(): string {
    return this.#isKilled ? 'kill and reopen' : 'close and reopen'
  }
}

/** A restart in order, or after a kill. */
export const REOPENS = fc.boolean().map((isKilled) => new Reopen(isKilled))
