import { statSync } from 'node:fs'
import { createRequire, isBuiltin, SourceMap } from 'node:module'
import { dirname, sep } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { Script } from 'node:vm'
import type { createJiti as Create, JitiOptions } from 'jiti'
import { isObject } from '../../core/json.ts'
import { loaded } from '../../core/load.ts'
import { later } from '../../core/time/realtime.ts'
import { readTextFile } from '../text.ts'
import { defineScenario } from './define-scenario.ts'
import { noted, problemOf, registerPlaces, ScenarioError } from './problem.ts'

type Module = { exports: unknown }

/** Real milliseconds until a script is refused whose imports or top-level promises have not finished. */
const LOAD_MS = 5_000

// Only the compiler and the search for files are used: the loader of jiti keeps some modules in the cache of Node, where an
// edited file would stay in its first version and never be freed.
const OPTIONS: JitiOptions = { fsCache: false, moduleCache: false, interopDefault: true, sourceMaps: true }

/**
 * Evaluates a script and the files that it imports, each anew, and returns its exports; packages come from the cache of Node. TypeScript is compiled
 * without a type check. Rejects with a {@link ScenarioError}. @param files filled with the files that were read, also on failure
 */
export async function importScript(file: string, files: Set<string>): Promise<unknown> {
  const modules = modulesWith((await loaded(import('jiti'))).createJiti, files)
  let cancel = () => {}
  const overdue = new Promise<never>((_, reject) => {
    const message = `did not finish within ${LOAD_MS} ms. Look for a promise that never settles.`
    cancel = later(LOAD_MS, () => reject(new ScenarioError({ file, message })))
  })
  try {
    const exports = await Promise.race([modules.load(file, true), overdue])
    registerPlaces(modules.places)
    return exports
  } catch (thrown) {
    throw new ScenarioError(problemOf(thrown, file, modules.places))
  } finally {
    cancel()
  }
}

/** One script and its helpers. It is dropped with them: nothing global refers to a module. */
function modulesWith(createJiti: typeof Create, files: Set<string>) {
  const places = new Map<string, SourceMap>()
  const modules = new Map<string, Module>()
  return { load, places }

  /** The exports of a file. With `async` it returns a promise, since the module may await something at its top level. */
  function load(file: string, async: boolean): unknown {
    const known = modules.get(file)
    // A module that is still being evaluated is part of a circle; its exports so far are used, as in Node.
    if (known !== undefined) return known.exports
    const module: Module = { exports: {} }
    modules.set(file, module)
    files.add(file)
    if (file.endsWith('.json')) module.exports = JSON.parse(readRegular(file))
    const evaluated = file.endsWith('.json') ? undefined : evaluate(file, module, async)
    return async ? Promise.resolve(evaluated).then(() => module.exports) : module.exports
  }

  function evaluate(file: string, module: Module, async: boolean): unknown {
    const jiti = createJiti(file, OPTIONS)
    const source = readRegular(file)
    const code = jiti.transform({ filename: file, source, ts: /\.[cm]?ts$/.test(file), async })
    if (code.startsWith('exports.__JITI_ERROR__')) throw syntaxError(file, code)
    const [, map] = /\n\/\/# sourceMappingURL=data:application\/json;[^,]*base64,(\S+)\s*$/.exec(code) ?? []
    if (map !== undefined) places.set(file, new SourceMap(JSON.parse(Buffer.from(map, 'base64').toString())))
    const resolve = (id: string): string => fileURLToPath(jiti.esmResolve(id))
    const request = (id: string, async: boolean): unknown => {
      // Scripts need only these functions of the emulator, and can import them wherever the package is installed.
      if (id === PACKAGE) return { defineScenario, defineEndpoint: noted }
      const path = isBuiltin(id) ? undefined : resolve(id)
      if (path?.includes(`${sep}node_modules${sep}`) === false) return load(path, async)
      return async ? jiti.import(id) : createRequire(file)(id)
    }
    const require = (id: string) => request(id, false)
    const importModule = async (id: string) => request(id, true)
    const urlOf = (id: string) => pathToFileURL(resolve(id)).href
    // The names are those that the compiled code of jiti uses.
    const head = `(${async ? 'async ' : ''}function (exports, require, module, __filename, __dirname, jitiImport, jitiESMResolve) { `
    const script = new Script(`${head}${code}\n})`, { filename: file, columnOffset: -head.length })
    const run = script.runInThisContext({ displayErrors: false })
    return run(module.exports, require, module, file, dirname(file), importModule, urlOf)
  }
}

function readRegular(file: string): string {
  // Reading a FIFO could block the process forever.
  if (!statSync(file).isFile()) throw new Error(`${file} is not a regular file`)
  return readTextFile(file)
}

const PACKAGE = 'agent-workspace-emulator'

/** The compiler returns a syntax error as code that exports it. */
function syntaxError(file: string, code: string): ScenarioError {
  const { line, column, code: name, message } = JSON.parse(code.slice(code.indexOf('{')))
  return new ScenarioError({ file, line, column: column + 1, message: `${name}: ${message.trim()}` })
}

/** The default export of a script. Throws an error when it has none. @param way how to write it */
export function exportOf(module: unknown, way: string): unknown {
  const isCommonJs = typeof module !== 'object' || module === null || !Object.hasOwn(module, '__esModule')
  const exported = isCommonJs ? module : (module as { readonly default?: unknown }).default
  // Without exports, a CommonJS module is an empty object. In other modules an empty object may be what the user means.
  if (exported !== undefined && !(isCommonJs && isObject(exported) && Object.keys(exported).length === 0))
    return exported
  throw new Error(
    `has no default export. Write export default ${way}; move a helper file into a subfolder, or give it a name that starts with _`,
  )
}
