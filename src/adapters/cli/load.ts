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

/** What the bundle exports to the files beside it. build.mjs uses more of it. */
interface Bundle {
  /** Runs the command line of this process. */
  main(): Promise<void>
  /** The library that users import. */
  library(): object
}

/** The digest of the bundle, which build.mjs inserts. */
declare const BUILD_ID: string

/** The length of the CRC-32 after the data of the cache. */
const SUM_BYTES = 4

const file = join(import.meta.dirname, 'emulator.cjs')
const cache = join(import.meta.dirname, `emulator-${BUILD_ID}-${cachedDataVersionTag()}.cache`)

// Compiling the bundle takes longer than running it, so that V8's compiled code is read from a cache: one for each build and
// version of V8. Modules have no such interface before Node 22; therefore the bundle is a script.
const wasThere = existsSync(cache)
const compiled = readCompiled()
const script = new Script(readFileSync(file, 'latin1'), {
  filename: file,
  ...(compiled === undefined ? {} : { cachedData: compiled }),
})
if (script.cachedDataRejected !== false) process.once('exit', keepIfPossible)

const module = { exports: {} }
script.runInThisContext()(module.exports, require, module, pathToFileURL(file).href)

/** The bundle, evaluated once in a process. */
export const bundle = module.exports as Bundle

/** Writes the code that V8 has compiled so far beside the bundle, for later processes. Throws when it cannot be written. */
export function keepCompiled(): void {
  const draft = `${cache}.${process.pid}-${threadId}`
  // A killed process may have left one with this number: in a container the number is always the same.
  rmSync(draft, { force: true })
  const handle = openSync(draft, 'wx')
  try {
    const data = script.createCachedData()
    writeFileSync(handle, data)
    writeFileSync(handle, sumOf(data))
    // All of it or none, even after a power cut.
    fsyncSync(handle)
    renameSync(draft, cache)
  } finally {
    closeSync(handle)
    rmSync(draft, { force: true })
  }
}

// V8 trusts its cache: one wrong bit ends this process with a signal, and every one after it.
function readCompiled(): Buffer | undefined {
  try {
    const bytes = readFileSync(cache)
    const data = bytes.subarray(0, -SUM_BYTES)
    return sumOf(data).equals(bytes.subarray(-SUM_BYTES)) ? data : undefined
  } catch {
    // There is none, or this user may not read it: compiling takes longer, with the same result.
    return undefined
  }
}

function sumOf(data: Buffer): Buffer {
  const sum = Buffer.alloc(SUM_BYTES)
  sum.writeUInt32BE(crc32(data))
  return sum
}

/** Packages are published without a cache, since V8 refuses that of another version: the first run writes one. */
function keepIfPossible(): void {
  try {
    // Of several first processes, one is enough; a cache that could not be used is replaced.
    if (wasThere || !existsSync(cache)) keepCompiled()
  } catch {
    // Installed where this user may not write: the next run compiles again.
  }
}
