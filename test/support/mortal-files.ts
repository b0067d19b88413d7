import { type Files, nodeFiles } from '../../src/adapters/storage/files.ts'

/** The error of every step after the simulated end of the process. */
export class Killed extends Error {}

/** The process ends before the step or half way through it, or the step fails once. */
export type How = 'before' | 'half' | 'error'

/** Operations that change the disk. */
const STEPS: readonly string[] = [
  'open',
  'write',
  'truncate',
  'rename',
  'remove',
  'makeDirectory',
  'removeDirectory',
] as const satisfies readonly (keyof Files)[]

const WRITES = ['write']

/** A file system that stops at its n-th step: nothing is written to the disk after that. Counts its steps. */
export class MortalFiles {
  steps = 0
  /** The numbers of the steps that write bytes. */
  readonly writes: number[] = []
  readonly files: Files
  readonly #last: number
  readonly #how: How
  #dead = false

  constructor(last: number, how: How) {
    this.#last = last
    this.#how = how
    const operations = Object.entries(nodeFiles)
    const wrapped = operations.map(([name, operation]) => [name, this.#mortal(name, operation)])
    this.files = Object.fromEntries(wrapped) as Files
  }

  // biome-ignore lint/suspicious/noExplicitAny: one wrapper for operations of every signature.
  #mortal(name: string, operation: (...args: any[]) => unknown) {
    // biome-ignore lint/suspicious/noExplicitAny: see above.
    return (...args: any[]): unknown => {
      // The system closes the descriptors of a process that has ended.
      if (name === 'close') return operation(...args)
      if (this.#dead) throw new Killed()
      if (!STEPS.includes(name)) return operation(...args)
      this.steps += 1
      if (WRITES.includes(name)) this.writes.push(this.steps)
      if (this.steps !== this.#last) return operation(...args)
      if (this.#how === 'error') throw Object.assign(new Error(`ENOSPC: ${name}`), { code: 'ENOSPC' })
      this.#dead = true
      if (this.#how === 'half' && WRITES.includes(name)) {
        nodeFiles.write(args[0], args[1].subarray(0, args[1].length >> 1), args[2])
      }
      throw new Killed()
    }
  }
}
