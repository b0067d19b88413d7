import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'

/** What a worker is started from: a file, or code. */
export interface WorkerEntry {
  readonly source: string
  readonly eval: boolean
}

/**
 * The worker that scripts live in: a file beside the bundle, or, in a checkout, our own TypeScript read by the loader that
 * reads the scripts. Node 20 itself starts workers from JavaScript only.
 */
export function workerEntry(here: string = import.meta.url): WorkerEntry {
  if (!here.endsWith('.ts'))
    return { source: fileURLToPath(new URL('./scenario-worker.js', here)), eval: false }
  const jiti = JSON.stringify(createRequire(here).resolve('jiti'))
  const worker = JSON.stringify(fileURLToPath(new URL('./worker.ts', here)))
  return { source: `require(${jiti}).createJiti(${worker}).import(${worker})`, eval: true }
}
