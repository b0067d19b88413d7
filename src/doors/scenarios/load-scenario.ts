import { readFile } from 'node:fs/promises'
import { type Issue, isObject, type JsonObject } from '../../kernel/json.ts'
import { keysOf } from '../../kernel/log/json-pointer.ts'
import type { ScriptProblem } from '../../kernel/scenario/source.ts'
import { zodIssues } from '../../kernel/zod-issues.ts'
import { offsetOf, type Place, placeOf, syntaxIssue } from '../json-text.ts'
import { scenarioName } from './folder.ts'
import type { Generation } from './generation.ts'
import type { ScenarioData } from './loaded.ts'
import { FUNCTION, type scenarioSchema } from './schema.ts'
import { sourcePlace } from './source-places.ts'

/** A file, read: its scenario, or everything that keeps it from being one. */
export interface Candidate {
  readonly name: string
  readonly file: string
  readonly data?: ScenarioData
  readonly problems: readonly ScriptProblem[]
}

type Content = Pick<Candidate, 'data' | 'problems'>
type Schema = ReturnType<typeof scenarioSchema>

/** Reads every file. Scripts are evaluated in the thread of the generation, JSON is read here. */
export async function loadScenarios(
  files: readonly string[],
  generation: Generation,
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
    return `is named "${name}"; the name of a scenario has small letters, digits and hyphens alone. Rename the file, or put a _ before its name if it is no scenario`
  }
  return twin === undefined ? undefined : `has the same name as ${twin}; rename one of them`
}

async function loadScenario(file: string, generation: Generation, schema: Schema): Promise<Content> {
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
    return { problems: [{ file, ...placeOf(text, Math.min(syntax.offset, text.trimEnd().length)), message }] }
  }
  return check(file, JSON.parse(text), schema, (pointer) => placeOf(text, offsetOf(text, pointer)))
}

async function loadScript(file: string, generation: Generation, schema: Schema): Promise<Content> {
  const loaded = await generation.load(file)
  if ('message' in loaded) return { problems: [loaded] }
  const source = await readFile(file, 'utf8')
  const locate = (pointer: string): Place => sourcePlace(source, pointer)
  if (loaded.text === undefined) return { problems: located(file, loaded.issues, locate) }
  return check(file, withFunctions(JSON.parse(loaded.text), loaded.functions), schema, locate)
}

function check(file: string, document: unknown, schema: Schema, locate: (pointer: string) => Place): Content {
  if (!isObject(document)) return { problems: [{ file, line: 1, column: 1, message: 'must be an object' }] }
  const result = schema.safeParse(document)
  if (result.success) return { data: result.data, problems: [] }
  return { problems: located(file, zodIssues(result.error, ''), locate) }
}

function located(
  file: string,
  issues: readonly Issue[],
  locate: (pointer: string) => Place,
): ScriptProblem[] {
  const problems = issues.map(({ pointer, detail }) => ({
    file,
    ...locate(pointer),
    pointer,
    message: detail,
  }))
  return problems.sort((a, b) => a.line - b.line || a.column - b.column)
}

/** Puts the mark of a function wherever a script has one. */
function withFunctions(data: JsonObject, functions: readonly string[]): JsonObject {
  for (const pointer of functions) {
    const keys = keysOf(pointer)
    const last = keys.pop() ?? ''
    let holder: object = data
    for (const key of keys) holder = (holder as Record<string, object>)[key] ?? holder
    // An event may be called `__proto__` before anybody has refused that.
    Object.defineProperty(holder, last, { value: FUNCTION, enumerable: true })
  }
  return data
}
