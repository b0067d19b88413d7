import { existsSync } from 'node:fs'
import { basename, dirname, extname, relative, resolve } from 'node:path'
import { didYouMean } from '../../core/did-you-mean.ts'
import { Refusal } from '../../core/errors.ts'
import { checkDraft } from '../../core/faults/arm.ts'
import { type Issue, isObject, type JsonObject } from '../../core/json.ts'
import { type CheckedScenario, checkScenarios, type InternalOptions, openEmulator } from '../../emulator.ts'
import { FixturesError } from '../fixtures.ts'
import { FAILED, type Invocation, OK } from './command.ts'
import {
  type FixturesIssue,
  fixturesFile,
  isDirectory,
  issueLine,
  located,
  locateFixtures,
  readJsonFile,
} from './json-files.ts'

type ValidateInvocation = Invocation<'fixtures' | 'settings' | 'scenarios' | 'json'>

/** A file and all its issues. */
interface Verdict {
  readonly file: string
  /** Undefined when the file cannot be read. */
  readonly kind: Kind | undefined
  readonly issues: readonly FixturesIssue[]
}

/** The options of the start that the files are checked for. */
interface Under {
  readonly fixtures: string
  readonly settings: JsonObject
  /** Directory of the scenarios. */
  readonly scenarios: string
}

/** `validate`: checks files by starting a sandbox with each, exactly as `start` would. */
export async function validate(invocation: ValidateInvocation): Promise<number> {
  const { args, options, terminal } = invocation
  const settings = options.settings === undefined ? undefined : await readJsonFile(options.settings)
  const inForce = settings !== undefined && 'document' in settings ? settings.document : {}
  const under = { fixtures: options.fixtures, settings: inForce, scenarios: options.scenarios }
  const found: Verdict[] = []
  const scenarios: string[] = []
  for (const file of args.length > 0 ? args : inUse(invocation)) {
    const verdict = await verdictOn(file, under)
    if (verdict === 'scenario') scenarios.push(file)
    else found.push(verdict)
  }
  if (scenarios.length > 0) found.push(...(await scenarioVerdicts(scenarios, under)))
  const verdicts = found.map((verdict) => ({ ...verdict, issues: byPlace(verdict.issues) }))
  const valid = verdicts.every(({ issues }) => issues.length === 0)
  if (options.json) terminal.out(JSON.stringify({ valid, files: verdicts }))
  else for (const verdict of verdicts) terminal.out(linesOf(verdict).join('\n'))
  return valid ? OK : FAILED
}

/** Sorts issues by file, line and column. Files keep the order of their first issue. */
function byPlace(issues: readonly FixturesIssue[]): FixturesIssue[] {
  const files = [...new Set(issues.map(({ file }) => file))]
  return [...issues].sort(
    (a, b) =>
      files.indexOf(a.file) - files.indexOf(b.file) || a.line - b.line || (a.column ?? 0) - (b.column ?? 0),
  )
}

// The default directory of scenarios may be missing; a directory that the user names must exist.
function inUse({ options, given }: ValidateInvocation): string[] {
  const { fixtures, settings, scenarios } = options
  const wanted = given.has('scenarios') || isDirectory(scenarios)
  return [fixtures, ...(settings === undefined ? [] : [settings]), ...(wanted ? [scenarios] : [])]
}

function linesOf({ file, kind, issues }: Verdict): string[] {
  if (issues.length === 0) return [`${file}: ok (${kind})`]
  return issues.map((issue) => issueLine(issue.file, issue))
}

/** The verdict on one file. Scenarios are checked together, after the other files. */
async function verdictOn(file: string, under: Under): Promise<Verdict | 'scenario'> {
  if (file === under.scenarios && !isDirectory(file)) return missing(file, 'directory')
  if (isScenarioPath(file, under.scenarios) && !existsSync(file)) return missing(file, 'file')
  if (isHelperPath(file)) return { file, kind: 'helper', issues: [] }
  if (isScenarioPath(file, under.scenarios)) return 'scenario'
  const read = await readJsonFile(fixturesFile(file))
  if ('issues' in read)
    return { file, kind: undefined, issues: read.issues.map((issue) => ({ ...issue, file })) }
  const { document, text } = read
  const kind = kindOf(document)
  if (kind === 'scenario') return kind
  if (kind === 'fixtures') {
    const error = await failureOf({ fixtures: file, settings: under.settings })
    const issues = error instanceof FixturesError ? await locateFixtures(error.file, error.issues) : []
    return { file, kind, issues }
  }
  const at = (issues: readonly Issue[]) => located(text, issues).map((issue) => ({ ...issue, file }))
  if (kind === 'fault rule') return { file, kind, issues: at(await ruleIssues(document, under)) }
  const error = await failureOf({ fixtures: {}, settings: document })
  return { file, kind, issues: at(error instanceof Refusal ? (error.options.issues ?? []) : []) }
}

async function ruleIssues(rule: JsonObject, { settings }: Under): Promise<readonly Issue[]> {
  const emulator = await openEmulator({ ...SILENT, fixtures: {}, settings })
  const { service, settings: inForce } = emulator.sandbox
  await emulator.close()
  const checked = checkDraft(rule, service, inForce)
  return 'issues' in checked ? checked.issues : []
}

function missing(file: string, what: 'file' | 'directory'): Verdict {
  const detail = `there is no such ${what}; the path is relative to the working directory`
  return { file, kind: undefined, issues: [{ file, line: 0, pointer: '', detail }] }
}

/** Checks scenarios against the sandbox that they would be started in, or an empty one if that cannot be created. */
async function scenarioVerdicts(
  sources: readonly string[],
  { fixtures, settings }: Under,
): Promise<readonly Verdict[]> {
  const usual = await started({ fixtures, settings })
  const emulator = 'sandbox' in usual ? usual : await openEmulator({ ...SILENT, fixtures: {} })
  try {
    const folders = sources.filter(isDirectory)
    const files = sources.filter((source) => !folders.includes(source))
    const checked: CheckedScenario[] = []
    const empty: string[] = []
    for (const source of [...folders, ...(files.length === 0 ? [] : [files])]) {
      const found = await checkScenarios(source, emulator.sandbox)
      if (found.length === 0 && typeof source === 'string') empty.push(source)
      checked.push(...found)
    }
    // Not an error: a team may have the directory before its first scenario.
    const kind = 'directory without scenarios'
    return [...empty.map((file) => ({ file, kind, issues: [] }) as const), ...checked.map(scenarioVerdict)]
  } finally {
    await emulator.close()
  }
}

function scenarioVerdict({ file, problems }: CheckedScenario): Verdict {
  const issues = problems.map(({ file: at, line = 0, column, pointer = '', message }) => {
    const issue = { file: shown(at), line, pointer, detail: message }
    return column === undefined ? issue : { ...issue, column }
  })
  return { file: shown(file), kind: 'scenario', issues }
}

/** The path relative to the working directory, for a file inside of it. */
function shown(file: string): string {
  const path = relative('', file)
  return path.startsWith('..') ? file : path
}

/** A free port and no disk: only the checked files can make the start fail. */
const SILENT = { port: 0, ephemeral: true, rate: 0 } as const

/** The error of a start with these options; undefined if it succeeds. */
async function failureOf(options: InternalOptions): Promise<unknown> {
  const result = await started(options)
  if (!('sandbox' in result)) return result
  await result.close()
  return undefined
}

async function started(options: InternalOptions) {
  try {
    return await openEmulator({ ...SILENT, ...options })
  } catch (error) {
    if (error instanceof FixturesError || error instanceof Refusal) return error
    throw error
  }
}

/** The kind that a file is checked as. A `helper` is checked with the scenarios that import it. */
type Kind = 'fixtures' | 'settings' | 'scenario' | 'fault rule' | 'helper' | 'directory without scenarios'

const FIXTURES_FIELDS = ['extends', 'organization', 'generate', 'collections', 'description', 'stubs']

/** Fields that only scenarios have. */
const SCENARIO_FIELDS = ['fixtures', 'clock', 'settings', 'pace', 'outcomes', 'faults', 'timeline', 'on']

/** Fields that only fault rules have. */
const RULE_FIELDS = ['preset', 'match', 'when', 'do', 'actions']

const SCRIPTS = ['.ts', '.js', '.mjs', '.cjs']

/** Whether the path alone identifies scenarios: a script, a directory, or a JSON file in the directory of scenarios. */
function isScenarioPath(path: string, folder: string): boolean {
  return (
    SCRIPTS.includes(extname(path)) ||
    isDirectory(path) ||
    (path.endsWith('.json') && dirname(resolve(path)) === resolve(folder))
  )
}

/** Whether the name of a script marks it as a helper with `_`: a shell expands a glob to scenarios and helpers. */
function isHelperPath(path: string): boolean {
  return SCRIPTS.includes(extname(path)) && basename(path).startsWith('_')
}

/**
 * The kind of a document, by its fields. Only keys of settings have dots. A document with a misspelt field of fixtures still
 * counts as fixtures.
 */
export function kindOf(document: JsonObject): Kind {
  const keys = Object.keys(document)
  if (keys.some((key) => key.includes('.'))) return 'settings'
  if (keys.some((key) => RULE_FIELDS.includes(key))) return 'fault rule'
  if (keys.some((key) => SCENARIO_FIELDS.includes(key)) && !('collections' in document)) return 'scenario'
  if (keys.length === 0 || keys.some((key) => isNear(key, FIXTURES_FIELDS))) return 'fixtures'
  if (keys.some((key) => isNear(key, SCENARIO_FIELDS))) return 'scenario'
  return Object.values(document).some(isObject) ? 'fixtures' : 'settings'
}

function isNear(key: string, fields: readonly string[]): boolean {
  return didYouMean(key, fields) !== ''
}
