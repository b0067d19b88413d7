import { type Files, nodeFiles } from '../../../src/adapters/storage/files.ts'
import { Killed, unsynced } from '../../support/mortal-files.ts'

/** The faults of one operation. `full`: from then on the disk is full. */
export const HOWS = ['before', 'after', 'half', 'ENOSPC', 'EIO', 'EACCES', 'EMFILE', 'full'] as const
export type How = (typeof HOWS)[number]

/** Operations that change the disk. */
const CHANGES = [
  'open',
  'write',
  'writeSoon',
  'truncate',
  'truncatePath',
  'rename',
  'link',
  'copy',
  'remove',
  'makeDirectory',
  'removeDirectory',
] as const satisfies readonly (keyof Files)[]

/** Operations that need space on the disk. */
const GROWS: readonly string[] = ['open', 'write', 'writeSoon', 'link', 'copy', 'makeDirectory']
const WRITES: readonly string[] = ['write', 'writeSoon']

type Operation = (...args: never[]) => unknown

/** The real file system with a fault at the n-th operation. */
export class FaultyFiles {
  /** The names of all operations so far, in order. */
  readonly done: string[] = []
  readonly files: Files
  /** Whether the process is dead in the simulation: nothing is written to the disk after that. */
  isDead = false
  /** Whether the fault has occurred. */
  hasStruck = false
  readonly #at: number
  readonly #how: How

  /** @param at counted from 1; Infinity for a run without a fault */
  constructor(at: number, how: How) {
    this.#at = at
    this.#how = how
    const wrapped = Object.entries(unsynced).map(([name, operation]) => [name, this.#wrap(name, operation)])
    this.files = Object.fromEntries(wrapped) as Files
  }

  #wrap(name: string, operation: Operation): Operation {
    return (...args) => {
      // The system closes the descriptors of a process that has ended.
      if (this.isDead && name === 'close') return operation(...args)
      if (this.isDead) throw new Killed()
      this.done.push(name)
      if (this.done.length < this.#at) return operation(...args)
      if (this.done.length > this.#at && this.#how !== 'full') return operation(...args)
      return this.#strike(name, operation, args)
    }
  }

  #strike(name: string, operation: Operation, args: never[]): unknown {
    const reads = name === 'open' && (args[1] as unknown) === 'r'
    if (this.#how === 'full' && (!GROWS.includes(name) || reads)) return operation(...args)
    this.hasStruck = true
    switch (this.#how) {
      case 'before':
        return this.#die()
      case 'after':
        return this.#dieAfter(operation(...args))
      case 'half':
        if (WRITES.includes(name)) writeHalf(args)
        return this.#die()
      default:
        // The system closes the descriptor even if `close` fails.
        if (name === 'close') return operation(...args)
        throw systemError(this.#how === 'full' ? 'ENOSPC' : this.#how, name)
    }
  }

  #die(): never {
    this.isDead = true
    throw new Killed()
  }

  #dieAfter(result: unknown): unknown {
    if (result instanceof Promise) return result.then(() => this.#die())
    return this.#die()
  }
}

/** Whether this kind of fault can have its own effect in an operation of this name. */
export function isWorthIt(name: string, how: How): boolean {
  if (how === 'half') return WRITES.includes(name)
  // A kill around an operation that changes nothing equals a kill around the operation before or after it.
  if (how === 'before' || how === 'after') return (CHANGES as readonly string[]).includes(name)
  // Errors of `close` are not simulated.
  return how === 'full' ? GROWS.includes(name) : name !== 'close'
}

function systemError(code: string, name: string): Error {
  return Object.assign(new Error(`${code}: ${name}`), { code, syscall: name })
}

function writeHalf([file, bytes, at]: readonly unknown[]): void {
  const content = bytes as Uint8Array
  nodeFiles.write(file as number, content.subarray(0, content.length >> 1), at as number)
}
