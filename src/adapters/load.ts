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

/** A script that has run, and where V8's compiled code of it belongs. */
interface Loaded {
  readonly script: Script
  readonly cache: string
  readonly wasThere: boolean
}

const loaded = new Map<string, Loaded>()
const modules = new Map<string, { exports: unknown }>()

// Compiling the bundle takes longer than running it, so that V8's compiled code is read from a cache: one for each script,
// build and version of V8. Modules have no such interface before Node 22; therefore the bundle is a script.

/** What a script beside this one exports; it runs once in a process. */
export function evaluate(name: string): unknown {
  const known = modules.get(name)
  if (known !== undefined) return known.exports
  const file = join(import.meta.dirname, name)
  const cache = join(import.meta.dirname, `${parse(name).name}-${BUILD_ID}-${cachedDataVersionTag()}.cache`)
  const wasThere = existsSync(cache)
  const cachedData = readCompiled(cache)
  // Scripts of ASCII alone may be read as Latin-1, which takes half the time and memory.
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

/** What the scripts get as `require`: large packages that not every run needs are scripts of their own. */
function requireLate(id: string): unknown {
  return id.startsWith('./lazy/') ? evaluate(id.slice(2)) : require(id)
}

// Scripts that run from a cache cannot import().
function importModule(id: string): Promise<unknown> {
  return import(id)
}

/** Writes the code that V8 has compiled so far beside the bundle, for later processes. Throws when it cannot be written. */
export function keepCompiled(): void {
  for (const each of loaded.values()) {
    // Of several first processes, one is enough; a cache that could not be used is replaced.
    if (each.wasThere || !existsSync(each.cache)) keep(each)
  }
}

function keep({ script, cache }: Loaded): void {
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
function readCompiled(cache: string): Buffer | undefined {
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
export function keepIfPossible(): void {
  try {
    keepCompiled()
  } catch {
    // Installed where this user may not write: the next run compiles again.
  }
}
