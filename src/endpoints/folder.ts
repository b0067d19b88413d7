import { exportOf, importScript } from '../adapters/scenarios/import-script.ts'
import { type OnScenarioNotice, problemLine, ScenarioError } from '../adapters/scenarios/problem.ts'
import { ScriptFolder } from '../adapters/scenarios/script-folder.ts'
import { specialFile } from '../adapters/special-file.ts'
import { readTextFile } from '../adapters/text.ts'
import { lineAndColumn } from '../core/json-text.ts'
import type { ScriptProblem } from '../core/scenarios/source.ts'
import type { Service } from '../core/service.ts'
import { counted, sentence } from '../core/words.ts'
import { type EndpointBook, GIVEN, isEndpointFile } from './book.ts'
import { checkEndpoints, clashFinder, type Definition, shownFile } from './definition.ts'
import { operationsOf } from './operation.ts'

/** The result of reading a file. */
interface ReadEndpoints {
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
  const clashesOf = clashFinder(service)
  return all.map((each) => ({
    ...each,
    problems: [...each.problems, ...each.definitions.flatMap((definition) => clashesOf(definition))],
  }))
}

type Content = Pick<ReadEndpoints, 'definitions' | 'problems'> & Partial<ReadEndpoints>

async function readOne(file: string, imported: Set<string>, service: Service): Promise<Content> {
  try {
    const special = await specialFile(file)
    if (special !== undefined) throw new Error(special)
    const text = readTextFile(file)
    if (text.trim() === '') throw new Error('is empty')
    if (/\.(?:json|ya?ml)$/.test(file)) {
      const { definitionsOf } = await import('./openapi-file.ts')
      return { definitions: definitionsOf(text, shownFile(file), service), problems: [] }
    }
    const exported = exportOf(await importScript(file, imported), 'defineEndpoint({...}) or a list of them')
    return { ...checkEndpoints(exported, file, service), warnings: warningsIn(text, file) }
  } catch (error) {
    if (error instanceof ScenarioError) return { definitions: [], problems: [error.problem] }
    const { code, message } = error as NodeJS.ErrnoException
    return { definitions: [], problems: [{ file, message: code ? `cannot be read (${code})` : message }] }
  }
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

/** Takes definitions that are no files. Their problems are in the book then. */
export function takeEndpoints(given: readonly unknown[], book: EndpointBook): void {
  const { definitions, problems } = checkEndpoints(given, GIVEN, book.builtIn)
  book.problems = [...problems, ...definitions.flatMap(clashFinder(book.builtIn))]
  book.replace(definitions, operationsOf(definitions, book.builtIn))
}

/**
 * The definitions of a folder, for a book. All files are replaced together, and only if none has a problem; at the first load,
 * those without one are taken.
 */
export class EndpointFolder extends ScriptFolder<ReadEndpoints> {
  constructor(folder: string, book: EndpointBook, onNotice: OnScenarioNotice) {
    super(folder, {
      isListed: isEndpointFile,
      read: (files, unchanged) => readEndpoints(files, book.builtIn, unchanged),
      swap: (read) => {
        book.problems = read.flatMap((each) => each.problems)
        book.warnings = read.flatMap((each) => each.warnings)
        const isFirst = book.generation === 0
        for (const problem of book.problems)
          onNotice({
            level: 'warn',
            event: 'endpoints_broken',
            message: `${sentence(problemLine(problem))} ${isFirst ? 'The file is not loaded.' : 'The last valid endpoints stay in force.'}`,
            file: problem.file,
          })
        if (book.problems.length > 0 && !isFirst) return
        const valid = read.filter((each) => each.problems.length === 0).flatMap((each) => each.definitions)
        book.isIncomplete = book.problems.length > 0
        book.replace(valid, operationsOf(valid, book.builtIn))
        const message = `${counted(valid.length, 'endpoint')} loaded (generation ${book.generation})`
        if (!isFirst) onNotice({ level: 'info', event: 'endpoints_loaded', message })
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
