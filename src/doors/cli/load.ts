import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { cachedDataVersionTag } from 'node:v8'
import { Script } from 'node:vm'
import { threadId } from 'node:worker_threads'
import type { run } from './command-line.ts'

/** What the bundle gives to the files beside it. */
export interface Bundle {
  /** The command, on the command line of this process. */
  main(): Promise<void>
  /** The command, on any command line. */
  run: typeof run
  /** What users import. */
  library(): object
}

/** Stands for the content of the bundle; build/build.mjs puts it in. */
declare const BUILD_ID: string

const file = join(import.meta.dirname, 'emulator.cjs')
const cache = join(import.meta.dirname, `emulator-${BUILD_ID}-${cachedDataVersionTag()}.cache`)

// Compiling the bundle takes longer than running it; what V8 once made of it is read instead. There is one cache for each
// build and version of V8. Modules have no such interface before Node 22, so that the bundle is a script.
const script = new Script(readFileSync(file, 'latin1'), {
  filename: file,
  ...(existsSync(cache) ? { cachedData: readFileSync(cache) } : {}),
})
if (script.cachedDataRejected !== false) process.once('exit', keepIfPossible)

const module = { exports: {} }
script.runInThisContext()(module.exports, require, module, pathToFileURL(file).href)

/** The bundle, evaluated once in a process, whoever loads it. */
export const bundle = module.exports as Bundle

/** Writes what V8 has compiled so far beside the bundle, for the processes to come. Throws when that cannot be written. */
export function keepCompiled(): void {
  const draft = `${cache}.${process.pid}-${threadId}`
  const handle = openSync(draft, 'wx')
  try {
    // V8 takes on trust what its cache holds, so that there is either all of it or none, even behind a power cut.
    writeSync(handle, script.createCachedData())
    fsyncSync(handle)
    renameSync(draft, cache)
  } finally {
    closeSync(handle)
    rmSync(draft, { force: true })
  }
}

/** Packages are published without a cache, since V8 refuses that of another version: the first run leaves one behind. */
function keepIfPossible(): void {
  try {
    if (script.cachedDataRejected || !existsSync(cache)) keepCompiled()
  } catch {
    // Installed where this user may not write: the next run compiles again.
  }
}
