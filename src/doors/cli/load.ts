import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Script } from 'node:vm'
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

const file = join(import.meta.dirname, 'emulator.cjs')
const cache = join(import.meta.dirname, 'emulator.cache')

// Compiling the bundle takes longer than running it; what V8 made of it at build time is read instead. Another version
// of V8 refuses the cache and compiles. Modules have no such interface before Node 22, so that the bundle is a script.
const script = new Script(readFileSync(file, 'latin1'), {
  filename: file,
  ...(existsSync(cache) ? { cachedData: readFileSync(cache) } : {}),
})

const module = { exports: {} }
script.runInThisContext()(module.exports, require, module, pathToFileURL(file).href)

/** The bundle, evaluated once in a process, whoever loads it. */
export const bundle = module.exports as Bundle

/** What V8 has compiled so far, for the build to write. */
export function compiled(): Buffer {
  return script.createCachedData()
}
