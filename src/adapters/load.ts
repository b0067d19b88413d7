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
import { join, parse } from 'node:path'
import { pathToFileURL } from 'node:url'
import { cachedDataVersionTag } from 'node:v8'
import { Script } from 'node:vm'
import { threadId } from 'node:worker_threads'
import { crc32 } from 'node:zlib'

/** The digest of all scripts, which build.mjs inserts. */
declare const BUILD_ID: string

/** The length of the CRC-32 after the data of a cache. */
const SUM_BYTES = 4

/** A script that has run, and the path of its code cache. */
interface Loaded {
  readonly script: Script
  readonly cache: string
  readonly wasThere: boolean
}

const loaded = new Map<string, Loaded>()
const modules = new Map<string, { exports: unknown }>()

// Compiling the bundle takes longer than running it. So V8's compiled code is read from a cache: one file for each script,
// build and version of V8. ES modules have no such interface before Node 22; therefore the bundle is a script.

/** Runs a script in the folder of this one and returns its exports. Each script runs only once per process. */
export function evaluate(name: string): unknown {
  const known = modules.get(name)
  if (known !== undefined) return known.exports
  const file = join(import.meta.dirname, name)
  const cache = join(import.meta.dirname, `${parse(name).name}-${BUILD_ID}-${cachedDataVersionTag()}.cache`)
  const wasThere = existsSync(cache)
  const cachedData = readCompiled(cache)
  // The scripts contain only ASCII. Reading them as Latin-1 gives the same text in half the time and memory.
  const source = readFileSync(file, 'latin1')
  const script = new Script(source, { filename: file, ...(cachedData === undefined ? {} : { cachedData }) })
  if (script.cachedDataRejected !== false) {
    if (loaded.size === 0) process.once('exit', keepIfPossible)
    loaded.set(name, { script, cache, wasThere })
  }
  const module = { exports: {} }
  modules.set(name, module)
  script.runInThisContext()(module.exports, requireLate, module, pathToFileURL(file).href, importModule)
  return module.exports
}

/** The `require` of the scripts. Large packages that only some runs need are separate scripts below `./lazy/`. */
function requireLate(id: string): unknown {
  return id.startsWith('./lazy/') ? evaluate(id.slice(2)) : require(id)
}

// A script that runs from a cache cannot call import() itself.
function importModule(id: string): Promise<unknown> {
  return import(id)
}

/** Writes the code that V8 has compiled so far next to the bundle, for later processes. Throws when a write fails. */
export function keepCompiled(): void {
  for (const each of loaded.values()) {
    // One of several parallel first processes is enough. A cache that was there but could not be used is replaced.
    if (each.wasThere || !existsSync(each.cache)) keep(each)
  }
}

function keep({ script, cache }: Loaded): void {
  const draft = `${cache}.${process.pid}-${threadId}`
  // A killed process may have left a draft with this name: in a container the process id is always the same.
  rmSync(draft, { force: true })
  const handle = openSync(draft, 'wx')
  try {
    const data = script.createCachedData()
    writeFileSync(handle, data)
    writeFileSync(handle, sumOf(data))
    // After a power cut the cache is either complete or missing.
    fsyncSync(handle)
    renameSync(draft, cache)
  } finally {
    closeSync(handle)
    rmSync(draft, { force: true })
  }
}

// V8 does not verify its cache: one wrong bit crashes this process and every later one. Hence the CRC-32.
function readCompiled(cache: string): Buffer | undefined {
  try {
    const bytes = readFileSync(cache)
    const data = bytes.subarray(0, -SUM_BYTES)
    return sumOf(data).equals(bytes.subarray(-SUM_BYTES)) ? data : undefined
  } catch {
    // The cache is missing, or this user may not read it. Compiling takes longer, with the same result.
    return undefined
  }
}

function sumOf(data: Buffer): Buffer {
  const sum = Buffer.alloc(SUM_BYTES)
  sum.writeUInt32BE(crc32(data))
  return sum
}

/** Writes the cache if possible. Packages are published without one, because V8 rejects a cache of another version. */
export function keepIfPossible(): void {
  try {
    keepCompiled()
  } catch {
    // This user may not write to the package folder: the next run compiles again.
  }
}
