import { statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { type Issue, isObject, pointer } from '../../core/json.ts'
import { lineAndColumn, locationsIn, type SourceLocation, syntaxIssue } from '../../core/json-text.ts'
import type { FunctionRef } from '../../core/scenarios/row.ts'
import type { ScenarioCommand, ScenarioSnapshot, ScriptProblem } from '../../core/scenarios/source.ts'
import { parsed, zodIssues } from '../../core/zod-issues.ts'
import { specialFile } from '../special-file.ts'
import { readTextFile } from '../text.ts'
import type { Scenario } from './define-scenario.ts'
import { readFolder, scenarioName } from './folder.ts'
import { exportOf, importScript } from './import-script.ts'
import { problemOf, ScenarioError } from './problem.ts'
import { CALL_MS, CallRefused, plainData, runFunction } from './run-function.ts'
import { type ScenarioData, type ScenarioVocabulary, scenarioSchema } from './schema.ts'
import { sourceLocation } from './source-places.ts'

/** The result of reading a file: its scenario, or all its problems. */
export interface Candidate {
  readonly name: string
  readonly file: string
  readonly data?: ScenarioData
  /** The script of the data; absent for JSON. */
  readonly script?: { /** What it exports. */ readonly scenario: object; readonly source: string }
  readonly problems: readonly ScriptProblem[]
  /** The file and those that it imports, without packages. */
  readonly files: ReadonlySet<string>
}

type Content = Pick<Candidate, 'data' | 'script' | 'problems'>
type Schema = ReturnType<typeof scenarioSchema>

/**
 * Reads every file, at the same time, so that a script that waits for something does not delay the others.
 * @param unchanged candidates of an earlier load that are used again
 */
export function loadScenarios(
  files: readonly string[],
  schema: Schema,
  unchanged: readonly Candidate[] = [],
): Promise<Candidate[]> {
  return Promise.all(
    files.map(async (file) => {
      const name = scenarioName(file)
      const imported = new Set([file])
      const problem = nameProblem(file, files)
      if (problem !== undefined)
        return { name, file, problems: [{ file, message: problem }], files: imported }
      const known = unchanged.find((each) => each.file === file)
      return known ?? { name, file, ...(await loadScenario(file, imported, schema)), files: imported }
    }),
  )
}

async function loadScenario(file: string, imported: Set<string>, schema: Schema): Promise<Content> {
  try {
    const special = await specialFile(file)
    if (special !== undefined) return { problems: [{ file, message: special }] }
    return file.endsWith('.json') ? await loadJson(file, schema) : await loadScript(file, imported, schema)
  } catch (error) {
    if (error instanceof ScenarioError) return { problems: [error.problem] }
    if (!(error instanceof Error)) throw error
    const message = 'code' in error ? `cannot be read (${String(error.code)})` : error.message
    return { problems: [{ file, message }] }
  }
}

function nameProblem(file: string, files: readonly string[]): string | undefined {
  const name = scenarioName(file)
  if (!/^[a-z0-9][a-z0-9-]{0,62}$/.test(name)) {
    return `is named "${name}"; the name of a scenario may have only lowercase letters, digits and hyphens. Rename the file, or prefix its name with _ if it is not a scenario`
  }
  const isTwin = (other: string) =>
    other !== file && dirname(other) === dirname(file) && scenarioName(other) === name
  const twin = files.find(isTwin)
  return twin === undefined ? undefined : `has the same name as ${twin}; rename one of them`
}

async function loadJson(file: string, schema: Schema): Promise<Content> {
  const text = readTextFile(file)
  const syntax = syntaxIssue(text)
  if (syntax !== undefined) {
    const message = text.trim() === '' ? 'is empty' : `is not JSON: ${syntax.detail}`
    return {
      problems: [{ file, ...lineAndColumn(text, Math.min(syntax.offset, text.trimEnd().length)), message }],
    }
  }
  const document: unknown = JSON.parse(text)
  // The search for places is recursive, so it cannot find one in such a text.
  if (plainData(document).issues.length > 0) return { problems: [{ file, message: TOO_DEEP }] }
  return check(file, document, schema, locationsIn(text))
}

async function loadScript(file: string, imported: Set<string>, schema: Schema): Promise<Content> {
  const source = readTextFile(file)
  if (source.trim() === '') throw new Error('is empty')
  const scenario = exportOf(await importScript(file, imported), 'defineScenario({...})')
  if (!isObject(scenario)) throw new Error('exports no scenario: it must be an object')
  const { data, issues } = plainData(scenario, mayBeFunction)
  const locate: Locate = (pointer) => sourceLocation(source, pointer)
  if (issues.length > 0) return { problems: located(file, issues, locate) }
  const content = check(file, data, schema, locate)
  return { ...content, script: { scenario, source } }
}

const TOO_DEEP = 'is nested too deeply: a scenario has at most 100 objects and lists inside each other'

function mayBeFunction(path: readonly string[]): boolean {
  return path.length === 3
    ? path[0] === 'timeline' && path[2] === 'do'
    : path.length === 2 && path[0] === 'on'
}

/** Calls a function of a scenario. Throws {@link ScenarioError}. @param limit in real milliseconds */
export function callFunction(
  { file, script }: Candidate,
  ref: FunctionRef,
  snapshot: ScenarioSnapshot,
  limit = CALL_MS,
): readonly ScenarioCommand[] {
  const { timeline, on }: Scenario = script?.scenario ?? {}
  const run = 'on' in ref ? new Map(Object.entries(on ?? {})).get(ref.on) : timeline?.[ref.timeline]?.do
  if (typeof run !== 'function') {
    const where = 'on' in ref ? `on "${ref.on}"` : `at step ${ref.timeline} of its timeline`
    throw new ScenarioError({ file, message: `has no function ${where}` })
  }
  try {
    return runFunction(run, snapshot, limit)
  } catch (thrown) {
    if (!(thrown instanceof CallRefused)) throw new ScenarioError(problemOf(thrown, file))
    const at = 'on' in ref ? pointer('on', ref.on) : pointer('timeline', ref.timeline, 'do')
    const place = sourceLocation(script?.source ?? '', at)
    throw new ScenarioError({ file, ...place, pointer: at, message: thrown.message })
  }
}

/** Finds the place of the value at a pointer. */
type Locate = (pointer: string) => SourceLocation

function check(file: string, document: unknown, schema: Schema, locate: Locate): Content {
  if (!isObject(document)) return { problems: [{ file, line: 1, column: 1, message: 'must be an object' }] }
  const result = parsed(schema, document)
  if (result.success) return { data: result.data, problems: [] }
  return { problems: located(file, zodIssues(result.error, ''), locate) }
}

function located(file: string, issues: readonly Issue[], locate: Locate): ScriptProblem[] {
  return issues
    .map(({ pointer, detail }) => ({ file, ...locate(pointer), pointer, message: detail }))
    .sort((a, b) => a.line - b.line || a.column - b.column)
}

/**
 * Reads the scenarios of a folder, or single files. Returns the valid data and all problems, with their places. Scripts are
 * evaluated. @param source a folder, or the files
 */
export async function loadOnce(
  source: string | readonly string[],
  vocabulary: ScenarioVocabulary,
): Promise<readonly Candidate[]> {
  const [path = ''] = [source].flat()
  const isFolder = typeof source === 'string' && statSync(path, { throwIfNoEntry: false })?.isDirectory()
  const files = isFolder
    ? (await readFolder(resolve(path))).files
    : [source].flat().map((each) => resolve(each))
  return loadScenarios(files, scenarioSchema(vocabulary))
}
