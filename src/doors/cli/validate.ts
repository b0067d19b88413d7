import { type EmulatorOptions, startEmulator } from '../../emulator.ts'
import { didYouMean } from '../../kernel/assumptions.ts'
import { Refusal } from '../../kernel/errors.ts'
import { isObject, type JsonObject } from '../../kernel/json.ts'
import { FixturesError } from '../fixtures.ts'
import { type FixturesIssue, fileOf, locateFixtures } from './fixtures-lines.ts'
import type { Invocation } from './invocation.ts'
import { issueLine, located, readJsonFile } from './json-files.ts'
import { FAILED, OK } from './usage.ts'

type Kind = 'fixtures' | 'settings'

/** A file and everything that is wrong with it. */
interface Verdict {
  readonly file: string
  /** Undefined when the file cannot be read, so that nobody knows what it was meant to be. */
  readonly kind: Kind | undefined
  readonly issues: readonly FixturesIssue[]
}

const FIXTURES_MEMBERS = ['extends', 'organization', 'generate', 'collections', 'description']

/** `validate`: checks files by starting a world with each, exactly as `start` would. */
export async function validate({
  args,
  options,
  terminal,
}: Invocation<'fixtures' | 'settings' | 'json'>): Promise<number> {
  const settings = options.settings === undefined ? undefined : await readJsonFile(options.settings)
  const inForce = settings !== undefined && 'document' in settings ? settings.document : {}
  const inUse = [options.fixtures, options.settings].filter((file) => file !== undefined)
  const files = args.length > 0 ? args : inUse
  const verdicts: Verdict[] = []
  for (const file of files) verdicts.push(await verdictOn(file, inForce))
  const valid = verdicts.every(({ issues }) => issues.length === 0)
  if (options.json) terminal.out(JSON.stringify({ valid, files: verdicts }))
  else for (const verdict of verdicts) terminal.out(linesOf(verdict).join('\n'))
  return valid ? OK : FAILED
}

function linesOf({ file, kind, issues }: Verdict): string[] {
  if (issues.length === 0) return [`${file}: ok (${kind})`]
  return issues.map((issue) => issueLine(issue.file, issue))
}

async function verdictOn(file: string, settings: JsonObject): Promise<Verdict> {
  const read = await readJsonFile(fileOf(file))
  if ('issues' in read)
    return { file, kind: undefined, issues: read.issues.map((issue) => ({ ...issue, file })) }
  const { document, text } = read
  if (kindOf(document) === 'fixtures') {
    const error = await failureOf({ fixtures: file, settings })
    return { file, kind: 'fixtures', issues: await fixturesIssues(error) }
  }
  const error = await failureOf({ fixtures: {}, settings: document })
  const issues = error instanceof Refusal ? located(text, error.options.issues ?? []) : []
  return { file, kind: 'settings', issues: issues.map((issue) => ({ ...issue, file })) }
}

async function fixturesIssues(error: unknown): Promise<readonly FixturesIssue[]> {
  return error instanceof FixturesError ? locateFixtures(error.file, error.issues) : []
}

/** What a start with these options fails for. A port of its own and no disk: nothing else can be in the way. */
async function failureOf(options: EmulatorOptions): Promise<unknown> {
  const silent = { port: 0, ephemeral: true, rate: 0 }
  try {
    const emulator = await startEmulator({ ...silent, ...options })
    await emulator.close()
    return undefined
  } catch (error) {
    if (error instanceof FixturesError || error instanceof Refusal) return error
    throw error
  }
}

// Dots are in the keys of settings alone; a misspelt member of fixtures is still nearer to them than to any setting.
function kindOf(document: JsonObject): Kind {
  const keys = Object.keys(document)
  if (keys.some((key) => key.includes('.'))) return 'settings'
  const isNear = (key: string) => didYouMean(key, FIXTURES_MEMBERS) !== ''
  return keys.length === 0 || keys.some(isNear) || Object.values(document).some(isObject)
    ? 'fixtures'
    : 'settings'
}
