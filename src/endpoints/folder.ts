import { readFile } from 'node:fs/promises'
import { importScript } from '../adapters/scenarios/import-script.ts'
import { type OnScenarioNotice, problemLine, ScenarioError } from '../adapters/scenarios/problem.ts'
import { ScriptFolder } from '../adapters/scenarios/script-folder.ts'
import { specialFile } from '../adapters/special-file.ts'
import { lineAndColumn } from '../core/json-text.ts'
import type { ScriptProblem } from '../core/scenarios/source.ts'
import type { Service } from '../core/service.ts'
import { counted, sentence } from '../core/words.ts'
import type { EndpointBook } from './book.ts'
import { checkEndpoints, clashesOf, type Definition, definitionOfExample } from './check.ts'
import { isEndpointFile } from './is-endpoint.ts'
import { definitionsOf } from './openapi-file.ts'

/** The result of reading a file. */
export interface ReadEndpoints {
  readonly file: string
  readonly definitions: readonly Definition[]
  readonly problems: readonly ScriptProblem[]
  /** What breaks a replay or crosses sandboxes. */
  readonly warnings: readonly ScriptProblem[]
  readonly files: ReadonlySet<string>
}

/** Reads files of definitions, and finds what is wrong with each and between them. @param unchanged are used again */
export async function readEndpoints(
  files: readonly string[],
  service: Service,
  unchanged: readonly ReadEndpoints[] = [],
): Promise<ReadEndpoints[]> {
  const read = files.map(async (file): Promise<ReadEndpoints> => {
    const known = unchanged.find((each) => each.file === file)
    const imported = new Set([file])
    return known ?? { file, files: imported, warnings: [], ...(await readOne(file, imported, service)) }
  })
  const all = await Promise.all(read)
  const clashes = clashesOf(all.flatMap(({ definitions }) => definitions))
  return all.map((each) => {
    const own = clashes
      .filter(({ at }) => each.definitions.includes(at))
      .map(({ at: _, ...problem }) => problem)
    return own.length === 0 ? each : { ...each, problems: [...each.problems, ...own] }
  })
}

type Content = Pick<ReadEndpoints, 'definitions' | 'problems'> & Partial<ReadEndpoints>

async function readOne(file: string, imported: Set<string>, service: Service): Promise<Content> {
  try {
    const special = await specialFile(file)
    if (special !== undefined) throw new Error(special)
    const text = await readFile(file, 'utf8')
    if (text.trim() === '') throw new Error('is empty')
    if (/\.(?:json|ya?ml)$/.test(file))
      return { definitions: definitionsOf(text, file).map(definitionOfExample), problems: [] }
    const exported = exportOf(await importScript(file, imported))
    return { ...checkEndpoints(exported, file, service), warnings: warningsIn(text, file) }
  } catch (error) {
    const message =
      error instanceof Error && 'code' in error
        ? `cannot be read (${String(error.code)})`
        : String((error as Error).message)
    const problem = error instanceof ScenarioError ? error.problem : { file, message }
    return { definitions: [], problems: [problem] }
  }
}

function exportOf(module: unknown): unknown {
  const isModule = typeof module === 'object' && module !== null && Object.hasOwn(module, '__esModule')
  const exported = isModule ? (module as { readonly default?: unknown }).default : module
  if (typeof exported === 'object' && exported !== null && Object.keys(exported).length > 0) return exported
  throw new Error(
    'has no default export. Write export default defineEndpoint({...}) or a list of them; move a helper file into a subfolder, or give it a name that starts with _',
  )
}

const RISKS: readonly (readonly [pattern: RegExp, message: string])[] = [
  [
    /\bDate\.now\(\)|\bnew Date\(\)/g,
    'reads the real time, which a replay does not repeat; use "at" of the request',
  ],
  [
    /\bMath\.random\(\)|\brandomUUID\(\)/g,
    'is not repeated by a replay; use "chance" or "newId" of the request',
  ],
  [
    /^(?:let|var)\s/gm,
    'is a variable of the module: it outlives a reset, and all sandboxes share it; use "records"',
  ],
]

function warningsIn(text: string, file: string): ScriptProblem[] {
  return RISKS.flatMap(([pattern, message]) =>
    [...text.matchAll(pattern)].map((found) => ({
      file,
      ...lineAndColumn(text, found.index),
      message: `${found[0].trim()} ${message}`,
    })),
  )
}

/**
 * The definitions of a folder, which a book has. All files are replaced together, and only if none has a problem; at the first
 * load, those without one are taken.
 */
export class EndpointFolder extends ScriptFolder<ReadEndpoints> {
  constructor(folder: string, book: EndpointBook, onNotice: OnScenarioNotice) {
    super(folder, {
      isListed: isEndpointFile,
      read: (files, unchanged) => readEndpoints(files, book.builtIn, unchanged),
      swap: (read) => {
        const problems = read.flatMap((each) => each.problems)
        const isFirst = book.generation === 0
        if (problems.length === 0 || isFirst) {
          book.isIncomplete = problems.length > 0
          book.replace(read.flatMap((each) => (each.problems.length === 0 ? each.definitions : [])))
          if (!isFirst)
            onNotice({
              level: 'info',
              event: 'endpoints_loaded',
              message: `${counted(book.definitions.length, 'endpoint')} loaded (generation ${book.generation})`,
            })
        }
        book.problems = problems
        book.warnings = read.flatMap((each) => each.warnings)
        for (const problem of problems)
          onNotice({
            level: 'warn',
            event: 'endpoints_broken',
            message: `${sentence(problemLine(problem))} ${isFirst ? 'The file is not loaded.' : KEPT}`,
            file: problem.file,
          })
      },
      failed: (error) =>
        onNotice({
          level: 'warn',
          event: 'endpoints_broken',
          message: `${folder} could not be loaded: ${String(error)}`,
        }),
    })
  }
}

const KEPT = 'The last valid endpoints stay in force.'
