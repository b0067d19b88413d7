import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { cachedDataVersionTag } from 'node:v8'
import { Script } from 'node:vm'
import { threadId } from 'node:worker_threads'
import { crc32 } from 'node:zlib'
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

/** What stands behind the data of the cache: their CRC-32. */
const SUM_BYTES = 4

const file = join(import.meta.dirname, 'emulator.cjs')
const cache = join(import.meta.dirname, `emulator-${BUILD_ID}-${cachedDataVersionTag()}.cache`)

// Compiling the bundle takes longer than running it; what V8 once made of it is read instead. There is one cache for each
// build and version of V8. Modules have no such interface before Node 22, so that the bundle is a script.
const wasThere = existsSync(cache)
const compiled = readCompiled()
const script = new Script(readFileSync(file, 'latin1'), {
  filename: file,
  ...(compiled === undefined ? {} : { cachedData: compiled }),
})
if (script.cachedDataRejected !== false) process.once('exit', keepIfPossible)

const module = { exports: {} }
script.runInThisContext()(module.exports, require, module, pathToFileURL(file).href)

/** The bundle, evaluated once in a process, whoever loads it. */
export const bundle = module.exports as Bundle

/** Writes what V8 has compiled so far beside the bundle, for the processes to come. Throws when that cannot be written. */
export function keepCompiled(): void {
  const draft = `${cache}.${process.pid}-${threadId}`
  // One that was left by a process that was killed, and had this number, too: in a container it is always the same.
  rmSync(draft, { force: true })
  const handle = openSync(draft, 'wx')
  try {
    const data = script.createCachedData()
    writeFileSync(handle, data)
    writeFileSync(handle, sumOf(data))
    // All of it or none, even behind a power cut.
    fsyncSync(handle)
    renameSync(draft, cache)
  } finally {
    closeSync(handle)
    rmSync(draft, { force: true })
  }
}

// V8 takes on trust what its cache holds: a single wrong bit ends the process with a signal, and every one after it.
function readCompiled(): Buffer | undefined {
  try {
    const bytes = readFileSync(cache)
    const data = bytes.subarray(0, -SUM_BYTES)
    return sumOf(data).equals(bytes.subarray(-SUM_BYTES)) ? data : undefined
  } catch {
    // There is none, or another user's that this one may not read: compiling takes longer, and is all the same.
    return undefined
  }
}

function sumOf(data: Buffer): Buffer {
  const sum = Buffer.alloc(SUM_BYTES)
  sum.writeUInt32BE(crc32(data))
  return sum
}

/** Packages are published without a cache, since V8 refuses that of another version: the first run leaves one behind. */
function keepIfPossible(): void {
  try {
    // Of several processes that have come for the first time, one is enough; what could not be used is replaced.
    if (wasThere || !existsSync(cache)) keepCompiled()
  } catch {
    // Installed where this user may not write: the next run compiles again.
  }
}
