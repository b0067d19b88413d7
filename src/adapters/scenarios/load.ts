import { statSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { type Issue, isObject, type JsonObject, keysOf } from '../../core/json.ts'
import type { ScriptProblem } from '../../core/scenarios/source.ts'
import { zodIssues } from '../../core/zod-issues.ts'
import { lineAndColumn, placesIn, syntaxIssue, type TextPlace } from '../json-text.ts'
import { readFolder, scenarioName } from './folder.ts'
import { type GenerationOptions, SCRIPT_LIMITS, ScriptGeneration } from './generation.ts'
import { FUNCTION, type ScenarioData, type ScenarioVocabulary, scenarioSchema } from './schema.ts'
import { sourcePlace } from './source-places.ts'

/** The result of reading a file: its scenario, or all its problems. */
export interface Candidate {
  readonly name: string
  readonly file: string
  readonly data?: ScenarioData
  readonly problems: readonly ScriptProblem[]
}

type Content = Pick<Candidate, 'data' | 'problems'>
type Schema = ReturnType<typeof scenarioSchema>

/** Reads every file. Scripts are evaluated in the process of the generation, JSON is read here. */
export async function loadScenarios(
  files: readonly string[],
  generation: ScriptGeneration,
  schema: Schema,
): Promise<Candidate[]> {
  const names = files.map(scenarioName)
  const candidates: Candidate[] = []
  for (const file of files) {
    const name = scenarioName(file)
    const twin =
      files[names.indexOf(name)] === file ? files[names.lastIndexOf(name)] : files[names.indexOf(name)]
    const misnamed = nameProblem(name, twin === file ? undefined : twin)
    if (misnamed !== undefined) candidates.push({ name, file, problems: [{ file, message: misnamed }] })
    else candidates.push({ name, file, ...(await loadScenario(file, generation, schema)) })
  }
  return candidates
}

function nameProblem(name: string, twin: string | undefined): string | undefined {
  if (!/^[a-z0-9][a-z0-9-]{0,62}$/.test(name)) {
    return `is named "${name}"; the name of a scenario may have only lowercase letters, digits and hyphens. Rename the file, or prefix its name with _ if it is not a scenario`
  }
  return twin === undefined ? undefined : `has the same name as ${twin}; rename one of them`
}

async function loadScenario(file: string, generation: ScriptGeneration, schema: Schema): Promise<Content> {
  try {
    return file.endsWith('.json') ? await loadJson(file, schema) : await loadScript(file, generation, schema)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error
    return { problems: [{ file, message: `cannot be read (${String(error.code)})` }] }
  }
}

async function loadJson(file: string, schema: Schema): Promise<Content> {
  const text = await readFile(file, 'utf8')
  const syntax = syntaxIssue(text)
  if (syntax !== undefined) {
    const message = text.trim() === '' ? 'is empty' : `is not JSON: ${syntax.detail}`
    return {
      problems: [{ file, ...lineAndColumn(text, Math.min(syntax.offset, text.trimEnd().length)), message }],
    }
  }
  return check(file, JSON.parse(text), schema, placesIn(text))
}

async function loadScript(file: string, generation: ScriptGeneration, schema: Schema): Promise<Content> {
  const loaded = await generation.load(file)
  if ('message' in loaded) return { problems: [loaded] }
  const source = await readFile(file, 'utf8')
  const locate = (pointer: string): TextPlace => sourcePlace(source, pointer)
  if (loaded.text === undefined) return { problems: located(file, loaded.issues, locate) }
  return check(file, withFunctions(JSON.parse(loaded.text), loaded.functions), schema, locate)
}

function check(
  file: string,
  document: unknown,
  schema: Schema,
  locate: (pointer: string) => TextPlace,
): Content {
  if (!isObject(document)) return { problems: [{ file, line: 1, column: 1, message: 'must be an object' }] }
  const result = schema.safeParse(document)
  if (result.success) return { data: result.data, problems: [] }
  return { problems: located(file, zodIssues(result.error, ''), locate) }
}

function located(
  file: string,
  issues: readonly Issue[],
  locate: (pointer: string) => TextPlace,
): ScriptProblem[] {
  const problems = issues.map(({ pointer, detail }) => ({
    file,
    ...locate(pointer),
    pointer,
    message: detail,
  }))
  return problems.sort((a, b) => a.line - b.line || a.column - b.column)
}

/** Sets {@link FUNCTION} at each place where a script has a function. */
function withFunctions(data: JsonObject, functions: readonly string[]): JsonObject {
  for (const pointer of functions) {
    const keys = keysOf(pointer)
    const last = keys.pop() ?? ''
    let holder: object = data
    for (const key of keys) holder = (holder as Record<string, object>)[key] ?? holder
    // A hook may be named `__proto__`; that name is refused only later.
    Object.defineProperty(holder, last, { value: FUNCTION, enumerable: true })
  }
  return data
}

/**
 * Reads the scenarios of a folder, or single files, and closes their process again. Returns the valid data and all problems,
 * with their places. Scripts are evaluated. @param source a folder, or the files
 * @param hooks for tests
 */
export async function loadOnce(
  source: string | readonly string[],
  vocabulary: ScenarioVocabulary,
  hooks: Partial<Pick<GenerationOptions, 'onLine' | 'later'>> = {},
): Promise<readonly Candidate[]> {
  const schema = scenarioSchema(vocabulary)
  const candidates: Candidate[] = []
  for (const { folder, files } of await foldersOf(source)) {
    const scripts = new ScriptGeneration({
      folder,
      limits: SCRIPT_LIMITS,
      print: async () => '',
      onLine: () => {},
      onLeftover: () => {},
      ...hooks,
    })
    try {
      candidates.push(...(await loadScenarios(files, scripts, schema)))
    } finally {
      await scripts.close()
    }
  }
  return candidates
}

interface Batch {
  readonly folder: string
  readonly files: readonly string[]
}

async function foldersOf(source: string | readonly string[]): Promise<Batch[]> {
  if (typeof source === 'string' && statSync(source, { throwIfNoEntry: false })?.isDirectory()) {
    const folder = resolve(source)
    return [{ folder, files: (await readFolder(folder)).files }]
  }
  const files = typeof source === 'string' ? [source] : source
  const byFolder = new Map<string, Set<string>>()
  for (const file of files.map((each) => resolve(each))) {
    const folder = dirname(file)
    byFolder.set(folder, (byFolder.get(folder) ?? new Set()).add(file))
  }
  return [...byFolder].map(([folder, inIt]) => ({ folder, files: [...inIt] }))
}
