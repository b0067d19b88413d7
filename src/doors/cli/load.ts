import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { Script } from 'node:vm'

/** What the bundle gives to the files beside it. */
export interface Bundle {
  /** The command. */
  main(): Promise<void>
  /** What users import. */
  library(): Promise<object>
}

const folder = dirname(fileURLToPath(import.meta.url))
const file = join(folder, 'emulator.cjs')
const cache = join(folder, 'emulator.cache')

// Compiling the bundle takes longer than running it; what V8 made of it at build time is read instead. Another version
// of V8 refuses the cache and compiles. Modules have no such interface before Node 22, so the bundle is a script.
const script = new Script(readFileSync(file, 'latin1'), {
  filename: file,
  ...(existsSync(cache) ? { cachedData: readFileSync(cache) } : {}),
})

const module = { exports: {} }
script.runInThisContext()(module.exports, createRequire(file), module, pathToFileURL(file).href)

/** The bundle, evaluated once in a process, whoever loads it. */
export const bundle = module.exports as Bundle

/** What V8 has compiled so far, for the build to write. */
export function compiled(): Buffer {
  return script.createCachedData()
}
