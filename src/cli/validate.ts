import { existsSync } from 'node:fs'
import { basename, dirname, extname, relative, resolve } from 'node:path'
import { problemLine } from '../adapters/scenarios/problem.ts'
import { didYouMean } from '../core/did-you-mean.ts'
import { Refusal } from '../core/errors.ts'
import { checkDraft } from '../core/faults/arm.ts'
import { FixturesError } from '../core/fixtures-error.ts'
import { isObject, type JsonObject } from '../core/json.ts'
import type { Sandbox } from '../core/sandboxes/sandbox.ts'
import { shellWord } from '../core/shell-word.ts'
import { checkDocument } from '../core/state/document.ts'
import {
  type CheckedScenario,
  checkScenarios,
  type InternalOptions,
  openEmulator,
} from '../emulator/emulator.ts'
import { workspaceService } from '../emulator/service.ts'
import { endpointFiles } from '../endpoints/book.ts'
import { FAILED, type Invocation, OK } from '../terminal/command.ts'
import {
  fixturesFile,
  isDirectory,
  issueLine,
  type LocatedIssue,
  located,
  locateFixtures,
  readJsonFile,
} from '../terminal/json-files.ts'
import { type Line, styled } from '../terminal/line.ts'
import { show } from '../terminal/print.ts'
import type { VALIDATE_OPTIONS } from './local-options.ts'

type ValidateInvocation = Invocation<typeof VALIDATE_OPTIONS>

/** A file and all its issues. */
interface FileCheck {
  readonly file: string
  /** As messages show it; undefined when the file cannot be read. */
  readonly kind: string | undefined
  readonly issues: readonly LocatedIssue[]
  /** What breaks a replay, or crosses sandboxes. */
  readonly warnings?: readonly string[]
}

/** The options of the start that the files are checked for, with the settings themselves. */
type Under = Omit<ValidateInvocation['options'], 'settings'> & { readonly settings: JsonObject }

/** `validate`: checks files by starting a sandbox with each, exactly as `start` would. */
export async function validate(invocation: ValidateInvocation): Promise<number> {
  const { args, options } = invocation
  const settings = options.settings === undefined ? undefined : await readJsonFile(options.settings)
  const under = { ...options, settings: settings && 'document' in settings ? settings.document : {} }
  const alone: FileCheck[] = []
  const scenarios: string[] = []
  for (const file of args.length > 0 ? args : inUse(invocation)) {
    if ([resolve(file), dirname(resolve(file))].includes(resolve(under.endpoints))) {
      for (const check of await endpointChecks(file)) alone.push(check)
      continue
    }
    const check = await checkOn(file, under)
    if (check === 'scenario') scenarios.push(file)
    else alone.push(check)
  }
  const found = scenarios.length === 0 ? alone : [...alone, ...(await scenarioVerdicts(scenarios, under))]
  const checks = found.map((check) => ({ ...check, issues: byLocation(check.issues) }))
  const hasIssues = checks.some(({ issues }) => issues.length > 0)
  show(invocation, { valid: !hasIssues, files: checks }, checks.flatMap(linesOf))
  return hasIssues ? FAILED : OK
}

/** Sorts issues by file, line and column. Files keep the order of their first issue. */
function byLocation(issues: readonly LocatedIssue[]): LocatedIssue[] {
  const files = issues.map(({ file }) => file)
  return [...issues].sort(
    (a, b) =>
      files.indexOf(a.file) - files.indexOf(b.file) || a.line - b.line || (a.column ?? 0) - (b.column ?? 0),
  )
}

// The default directory of scenarios may be missing; a directory that the user names must exist.
function inUse({ options, given }: ValidateInvocation): string[] {
  const { fixtures, settings, scenarios, endpoints } = options
  const own = given.has('endpoints') || isDirectory(endpoints) ? [endpoints] : []
  const wanted = given.has('scenarios') || isDirectory(scenarios)
  return [fixtures, ...(settings === undefined ? [] : [settings]), ...(wanted ? [scenarios] : []), ...own]
}

function linesOf({ file, kind, issues, warnings = [] }: FileCheck): Line[] {
  const ok: Line = [`${file}: `, styled('green', 'ok'), ` (${kind})`]
  const found: Line[] = issues.length === 0 ? [ok] : issues.map(issueLine)
  return [...found, ...warnings.map((warning) => `Warning: ${warning}`)]
}

/** The check on one file. Scenarios are checked together, after the other files. */
async function checkOn(file: string, under: Under): Promise<FileCheck | 'scenario'> {
  const isScenario = isScenarioPath(file, under.scenarios)
  const isMissing = !existsSync(file)
  if (isMissing && (isScenario || file === under.scenarios)) {
    const what = file === under.scenarios ? 'directory' : 'file'
    return refused(file, undefined, `there is no such ${what}; the path is relative to the working directory`)
  }
  // A shell expands a glob to scenarios and helpers. A helper is checked with the scenarios that import it.
  if (SCRIPTS.includes(extname(file)) && basename(file).startsWith('_'))
    return { file, kind: 'helper', issues: [] }
  if (isScenario) return 'scenario'
  const read = await readJsonFile(fixturesFile(file))
  if ('issue' in read) return { file, kind: undefined, issues: [{ ...read.issue, file }] }
  const kind = extname(file) === '.har' ? 'HAR' : kindOf(read.document)
  if (kind === 'scenario') return kind
  if (kind === 'HAR')
    return refused(file, kind, `is a recording. Run: workspace-emulator drift ${shellWord(file)}`)
  if (kind === 'fixtures') {
    const error = await failureOf({ fixtures: file, settings: under.settings, endpoints: under.endpoints })
    const issues = error instanceof FixturesError ? await locateFixtures(error.file, error.issues) : []
    return { file, kind, issues }
  }
  if (kind === 'settings') {
    const error = await failureOf({ fixtures: {}, settings: read.document })
    const issues = error instanceof Refusal ? (error.options.issues ?? []) : []
    return { file, kind, issues: located(file, read.text, issues) }
  }
  const checked = await inSandbox(under, ({ service, settings }) =>
    // A state document has its own settings, and all records that it refers to.
    kind === 'state'
      ? checkDocument(read.document, service, false)
      : checkDraft(read.document, service, settings),
  )
  return { file, kind, issues: located(file, read.text, 'issues' in checked ? checked.issues : []) }
}

/** The check on a file that cannot be used as a whole. */
function refused(file: string, kind: string | undefined, detail: string): FileCheck {
  return { file, kind, issues: [{ file, line: 0, pointer: '', detail }] }
}

/** Calls `check` with the sandbox that files would be used in, or with an empty one if that cannot be created. */
async function inSandbox<T>(under: Under, check: (sandbox: Sandbox) => T | Promise<T>): Promise<T> {
  const { fixtures, settings, endpoints } = under
  const usual = await started({ fixtures, settings, endpoints })
  const emulator = 'sandbox' in usual ? usual : await openEmulator({ ...SILENT, fixtures: {}, endpoints })
  try {
    return await check(emulator.sandbox)
  } finally {
    await emulator.close()
  }
}

function scenarioVerdicts(sources: readonly string[], under: Under): Promise<readonly FileCheck[]> {
  return inSandbox(under, async (sandbox) => {
    const folders = sources.filter(isDirectory)
    const files = sources.filter((source) => !folders.includes(source))
    const checks: FileCheck[][] = []
    for (const source of [...folders, ...(files.length === 0 ? [] : [files])]) {
      const found = await checkScenarios(source, sandbox)
      // Not an error: a team may have the directory before its first scenario.
      const isEmpty = found.length === 0 && typeof source === 'string'
      const empty = { file: String(source), kind: 'directory without scenarios', issues: [] }
      checks.push(isEmpty ? [empty] : found.map(scenarioCheck))
    }
    return checks.flat()
  })
}

/** Reads files of endpoints as the start of an emulator does. */
async function endpointChecks(source: string): Promise<FileCheck[]> {
  const { readEndpoints } = await import('../endpoints/folder.ts')
  const files = isDirectory(source) ? await endpointFiles(source) : [resolve(source)]
  const read = await readEndpoints(files, workspaceService)
  return read.map(({ file, problems, warnings }) => ({
    ...scenarioCheck({ file, problems }),
    kind: 'endpoints',
    warnings: warnings.map(problemLine),
  }))
}

function scenarioCheck({ file, problems }: CheckedScenario): FileCheck {
  const issues = problems.map(({ file: at, line = 0, column, pointer = '', message }) => ({
    ...{ file: shown(at), line, pointer, detail: message },
    ...(column !== undefined && { column }),
  }))
  return { file: shown(file), kind: 'scenario', issues }
}

/** The path relative to the working directory, for a file inside of it. */
function shown(file: string): string {
  const path = relative('', file)
  return path.startsWith('..') ? file : path
}

/** A free port and no disk: only the checked files can make the start fail. */
// Files of endpoints are checked for themselves.
const SILENT = { port: 0, ephemeral: true, rate: 0, followEndpoints: true } as const

/** The error of a start with these options; undefined if it succeeds. */
async function failureOf(options: InternalOptions): Promise<unknown> {
  const result = await started(options)
  if ('sandbox' in result) await result.close()
  else return result
}

async function started(options: InternalOptions) {
  try {
    return await openEmulator({ ...SILENT, ...options })
  } catch (error) {
    if (error instanceof FixturesError || error instanceof Refusal) return error
    throw error
  }
}

const FIXTURES_FIELDS = ['extends', 'organization', 'generate', 'collections', 'description', 'stubs']
const SCENARIO_FIELDS = ['fixtures', 'clock', 'settings', 'pace', 'outcomes', 'faults', 'timeline', 'on']
const RULE_FIELDS = ['preset', 'match', 'when', 'do', 'actions']

/** Fields that only the state document of a sandbox has: a state file, an exported snapshot, `GET /__emulator/state`. */
const STATE_FIELDS = ['format', 'revision', 'counters', 'schedule', 'idempotency']

const SCRIPTS = ['.ts', '.js', '.mjs', '.cjs']

/** Whether the path alone identifies scenarios: a script, a directory, or a JSON file in the directory of scenarios. */
function isScenarioPath(path: string, folder: string): boolean {
  return (
    SCRIPTS.includes(extname(path)) ||
    isDirectory(path) ||
    (path.endsWith('.json') && dirname(resolve(path)) === resolve(folder))
  )
}

/**
 * The kind of a document, by its fields. Only keys of settings have dots. A document with a misspelt field of fixtures still
 * counts as fixtures.
 */
export function kindOf(document: JsonObject) {
  const keys = Object.keys(document)
  const hasOne = (fields: readonly string[]) => keys.some((key) => fields.includes(key))
  const hasSimilar = (fields: readonly string[]) => keys.some((key) => didYouMean(key, fields) !== '')
  if (keys.some((key) => key.includes('.'))) return 'settings'
  if (isObject(document.log)) return 'HAR'
  if (hasOne(STATE_FIELDS)) return 'state'
  if (hasOne(RULE_FIELDS)) return 'fault rule'
  if (hasOne(SCENARIO_FIELDS) && !('collections' in document)) return 'scenario'
  if (keys.length === 0 || hasSimilar(FIXTURES_FIELDS)) return 'fixtures'
  if (hasSimilar(SCENARIO_FIELDS)) return 'scenario'
  return Object.values(document).some(isObject) ? 'fixtures' : 'settings'
}
