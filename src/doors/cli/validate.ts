import { existsSync } from 'node:fs'
import { relative } from 'node:path'
import { type CheckedScenario, checkScenarios, type HouseOptions, openEmulator } from '../../emulator.ts'
import { Refusal } from '../../kernel/errors.ts'
import { checkDraft } from '../../kernel/faults/arm.ts'
import type { Issue, JsonObject } from '../../kernel/json.ts'
import { FixturesError } from '../fixtures.ts'
import { type FixturesIssue, fileOf, locateFixtures } from './fixtures-lines.ts'
import type { Invocation, VALIDATE_OPTIONS } from './invocation.ts'
import { isDirectory, issueLine, located, readJsonFile } from './json-files.ts'
import { FAILED, OK } from './usage.ts'
import { isHelperPath, isScenarioPath, type Kind, kindOf } from './validate-kinds.ts'

type ValidateInvocation = Invocation<(typeof VALIDATE_OPTIONS)[number]>

/** A file and everything that is wrong with it. */
interface Verdict {
  readonly file: string
  /** Undefined when the file cannot be read, so that nobody knows what it was meant to be. */
  readonly kind: Kind | undefined
  readonly issues: readonly FixturesIssue[]
}

/** What the files are checked under: that of a start with the same options. */
interface Under {
  readonly fixtures: string
  readonly settings: JsonObject
  /** Directory of the scenarios. */
  readonly scenarios: string
}

/** `validate`: checks files by starting a world with each, exactly as `start` would. */
export async function validate(invocation: ValidateInvocation): Promise<number> {
  const { args, options, terminal } = invocation
  const settings = options.settings === undefined ? undefined : await readJsonFile(options.settings)
  const inForce = settings !== undefined && 'document' in settings ? settings.document : {}
  const under = { fixtures: options.fixtures, settings: inForce, scenarios: options.scenarios }
  const verdicts: Verdict[] = []
  const scenarios: string[] = []
  for (const file of args.length > 0 ? args : inUse(invocation)) {
    const verdict = await verdictOn(file, under)
    if (verdict === 'scenario') scenarios.push(file)
    else verdicts.push(verdict)
  }
  if (scenarios.length > 0) verdicts.push(...(await scenarioVerdicts(scenarios, under)))
  const valid = verdicts.every(({ issues }) => issues.length === 0)
  if (options.json) terminal.out(JSON.stringify({ valid, files: verdicts }))
  else for (const verdict of verdicts) terminal.out(linesOf(verdict).join('\n'))
  return valid ? OK : FAILED
}

// Nobody needs to have scenarios; a directory that is named has to be there.
function inUse({ options, given }: ValidateInvocation): string[] {
  const { fixtures, settings, scenarios } = options
  const wanted = given.has('scenarios') || isDirectory(scenarios)
  return [fixtures, ...(settings === undefined ? [] : [settings]), ...(wanted ? [scenarios] : [])]
}

function linesOf({ file, kind, issues }: Verdict): string[] {
  if (issues.length === 0) return [`${file}: ok (${kind})`]
  return issues.map((issue) => issueLine(issue.file, issue))
}

/** What there is to say of a file; scenarios are checked together. */
async function verdictOn(file: string, under: Under): Promise<Verdict | 'scenario'> {
  if (file === under.scenarios && !isDirectory(file)) return missing(file, 'directory')
  if (isScenarioPath(file, under.scenarios) && !existsSync(file)) return missing(file, 'file')
  if (isHelperPath(file)) return { file, kind: 'helper', issues: [] }
  if (isScenarioPath(file, under.scenarios)) return 'scenario'
  const read = await readJsonFile(fileOf(file))
  if ('issues' in read)
    return { file, kind: undefined, issues: read.issues.map((issue) => ({ ...issue, file })) }
  const { document, text } = read
  const kind = kindOf(document)
  if (kind === 'scenario') return kind
  if (kind === 'fixtures') {
    const error = await failureOf({ fixtures: file, settings: under.settings })
    return { file, kind, issues: await fixturesIssues(error) }
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

/** Scenarios are held against the world that they would be started in, or an empty one where that cannot be made. */
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
    return [...empty.map(withoutScenarios), ...checked.map(scenarioVerdict)]
  } finally {
    await emulator.close()
  }
}

// Not an error: a team may keep the directory before it has its first scenario.
function withoutScenarios(file: string): Verdict {
  return { file, kind: 'directory without scenarios', issues: [] }
}

function scenarioVerdict({ file, problems }: CheckedScenario): Verdict {
  const issues = problems.map(({ file: at, line = 0, column, pointer = '', message }) => {
    const issue = { file: shown(at), line, pointer, detail: message }
    return column === undefined ? issue : { ...issue, column }
  })
  return { file: shown(file), kind: 'scenario', issues }
}

/** The path as somebody in the working directory would write it. */
function shown(file: string): string {
  const path = relative('', file)
  return path.startsWith('..') ? file : path
}

async function fixturesIssues(error: unknown): Promise<readonly FixturesIssue[]> {
  return error instanceof FixturesError ? locateFixtures(error.file, error.issues) : []
}

/** A port of its own and no disk: nothing else than what is checked can be in the way of a start. */
const SILENT = { port: 0, ephemeral: true, rate: 0 } as const

/** What a start with these options fails for. */
async function failureOf(options: HouseOptions): Promise<unknown> {
  const result = await started(options)
  if (!('sandbox' in result)) return result
  await result.close()
  return undefined
}

async function started(options: HouseOptions) {
  try {
    return await openEmulator({ ...SILENT, ...options })
  } catch (error) {
    if (error instanceof FixturesError || error instanceof Refusal) return error
    throw error
  }
}
