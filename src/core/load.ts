import { createRequire } from 'node:module'
import { Refusal } from './errors.ts'

const require = createRequire(import.meta.url)

/** Loads a package at its first use. Throws as {@link loaded} rejects; the next use tries again. */
export function load(name: string): unknown {
  try {
    return require(name)
  } catch (error) {
    throw notLoaded(error)
  }
}

/**
 * A module that `import()` loads at its first use. Rejects with `service_unavailable` when that is not possible any more: packages
 * are replaced while the emulator runs, and a process can run out of file descriptors, for which Node also says "Cannot find module".
 */
export async function loaded<T>(module: Promise<T>): Promise<T> {
  return module.catch((error: unknown) => {
    throw notLoaded(error)
  })
}

function notLoaded(error: unknown): Refusal {
  const [reason = ''] = String(error).split('\n')
  return new Refusal('service_unavailable', {
    detail: `A part of the emulator cannot be loaded (${reason}). Nothing was changed.`,
    mitigation:
      'If packages were installed or removed since it started, restart it. If too many files are open, close connections to it or raise the limit (ulimit -n); the next request tries again.',
  })
}

/** Throws an error again that a load threw: other errors of the same work may have another meaning, this one has not. */
export function rethrowNotLoaded(error: unknown): void {
  if (error instanceof Refusal) throw error
}
