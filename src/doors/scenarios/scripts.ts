import { readFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { createJiti, type Jiti } from 'jiti'
import { isObject } from '../../kernel/json.ts'
import type { FunctionRef } from '../../kernel/scenario/commands.ts'
import { defineScenario } from './define-scenario.ts'
import { plainData } from './plain-data.ts'
import type { LoadedScript } from './protocol.ts'

const NO_EXPORT =
  'has no default export. Write export default defineScenario({...}); a helper file belongs into a subfolder, or gets a name that starts with _'

/** The scripts of one folder, evaluated once each with whatever they import. TypeScript is translated, not checked. */
export class Scripts {
  readonly #folder: string
  readonly #jiti: Jiti
  readonly #ours: ReadonlySet<string>
  readonly #scenarios = new Map<string, object>()

  constructor(folder: string) {
    this.#folder = folder
    this.#jiti = createJiti(join(folder, 'scenario.js'), {
      fsCache: false,
      rebuildFsCache: false,
      moduleCache: true,
      interopDefault: true,
      sourceMaps: false,
      tryNative: false,
      tsconfigPaths: false,
      debug: false,
      // Nothing of the emulator is needed but this function, wherever the package may be installed.
      virtualModules: { 'agent-workspace-emulator': { defineScenario } },
    })
    this.#ours = new Set(Object.keys(this.#jiti.cache))
  }

  async load(file: string): Promise<LoadedScript> {
    const source = readFileSync(file, 'utf8')
    if (source.trim() === '') throw new Error('is empty')
    // Always translated: Node itself would look for our package among the installed ones.
    if (!this.#jiti.cache[file]?.loaded) {
      await this.#jiti.evalModule(source, { filename: file, async: true, forceTranspile: true })
    }
    const scenario = exportOf(this.#jiti.cache[file]?.exports)
    this.#scenarios.set(file, scenario)
    return plainData(scenario, mayBeFunction)
  }

  /** A function of a script that has been loaded. Whoever asks knows that it is there. */
  find(file: string, ref: FunctionRef): unknown {
    const { timeline, on } = this.#scenarios.get(file) as {
      readonly timeline?: readonly { readonly do?: unknown }[]
      readonly on?: Readonly<Record<string, unknown>>
    }
    return 'on' in ref ? on?.[ref.on] : timeline?.[ref.timeline]?.do
  }

  /** The files that have been imported from outside the folder, packages aside. */
  outside(): string[] {
    return Object.keys(this.#jiti.cache).filter(
      (file) => !this.#ours.has(file) && !file.includes(`${sep}node_modules${sep}`) && this.#isOutside(file),
    )
  }

  #isOutside(file: string): boolean {
    return relative(this.#folder, file).startsWith('..')
  }
}

function mayBeFunction(path: readonly string[]): boolean {
  return path.length === 3
    ? path[0] === 'timeline' && path[2] === 'do'
    : path.length === 2 && path[0] === 'on'
}

function exportOf(module: unknown): object {
  const isCommonJs = typeof module !== 'object' || module === null || !Object.hasOwn(module, '__esModule')
  const exported = isCommonJs ? module : (module as { readonly default?: unknown }).default
  // A CommonJS module that exports nothing is an empty object, and so may a scenario be that is exported as such.
  if (exported === undefined || (isCommonJs && isObject(exported) && Object.keys(exported).length === 0)) {
    throw new Error(NO_EXPORT)
  }
  if (isObject(exported)) return exported
  throw new Error('exports no scenario: it must be an object')
}
