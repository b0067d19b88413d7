import { type Files, nodeFiles } from '../../../src/adapters/storage/files.ts'
import { Killed, unsynced } from '../../support/mortal-files.ts'

/** What becomes of one operation. The last: the disk is full from then on. */
export const HOWS = ['before', 'after', 'half', 'ENOSPC', 'EIO', 'EACCES', 'EMFILE', 'full'] as const
export type How = (typeof HOWS)[number]

/** Operations that change what is on the disk. */
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

/** The real file system, of which the n-th operation goes wrong. */
export class FaultyFiles {
  /** The names of all operations so far, in order. */
  readonly done: string[] = []
  readonly files: Files
  /** Whether the process would have ended by now: nothing reaches the disk any more. */
  isDead = false
  /** Whether an operation has gone wrong. */
  hasStruck = false
  readonly #at: number
  readonly #how: How

  /** @param at counted from 1; Infinity for a life without a fault */
  constructor(at: number, how: How) {
    this.#at = at
    this.#how = how
    const wrapped = Object.entries(unsynced).map(([name, operation]) => [name, this.#wrap(name, operation)])
    this.files = Object.fromEntries(wrapped) as Files
  }

  #wrap(name: string, operation: Operation): Operation {
    return (...args) => {
      // Descriptors of the dead process are closed, as the system would.
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
        // The system closes in any case.
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

/** Whether a fault of this kind in an operation of this name differs from those of other kinds. */
export function isWorthIt(name: string, how: How): boolean {
  if (how === 'half') return WRITES.includes(name)
  // A process that is killed around what changes nothing is one that is killed around what comes before or after.
  if (how === 'before' || how === 'after') return (CHANGES as readonly string[]).includes(name)
  // Closing never fails.
  return how === 'full' ? GROWS.includes(name) : name !== 'close'
}

function systemError(code: string, name: string): Error {
  return Object.assign(new Error(`${code}: ${name}`), { code, syscall: name })
}

function writeHalf([file, bytes, at]: readonly unknown[]): void {
  const content = bytes as Uint8Array
  nodeFiles.write(file as number, content.subarray(0, content.length >> 1), at as number)
}
