import { Refusal } from '../../kernel/errors.ts'
import type { Issue } from '../../kernel/json.ts'
import { FixturesError } from '../fixtures.ts'
import { locateFixtures } from './fixtures-lines.ts'
import { issueLine, located, readJsonFile } from './json-files.ts'
import { oneLine } from './process-events.ts'

/** What a start was asked for that can be to blame for its failure. */
export interface Blamable {
  /** File. */
  readonly settings?: string | undefined
  readonly scenario?: string | undefined
}

/** Why the emulator did not start, for people: what, where (with line numbers, where a file is to blame), the way out. */
export async function startFailure(
  error: unknown,
  { settings: settingsFile, scenario }: Blamable = {},
): Promise<string> {
  if (error instanceof FixturesError) return fixturesFailure(error)
  if (error instanceof Refusal && scenario !== undefined && isOfScenario(error))
    return scenarioFailure(error, scenario)
  if (error instanceof Refusal && settingsFile !== undefined && error.options.issues !== undefined) {
    return settingsFailure(settingsFile, error.options.issues)
  }
  if (!(error instanceof Error) || ['TypeError', 'ReferenceError', 'RangeError'].includes(error.name)) {
    return `The emulator failed to start. This is a defect of the emulator: ${oneLine(error)}`
  }
  const isSystemError = 'syscall' in error
  return isSystemError
    ? `${error.message}. Run "workspace-emulator doctor" to see what is in the way.`
    : error.message
}

// Keys of settings have dots, or are no members of scenarios.
function isOfScenario({ options: { issues } }: Refusal): boolean {
  const members = ['fixtures', 'clock', 'settings', 'pace', 'outcomes', 'faults', 'stubs', 'timeline', 'on']
  return issues === undefined || issues.every(({ pointer }) => members.includes(pointer.split('/')[1] ?? ''))
}

function scenarioFailure({ message, options: { issues = [] } }: Refusal, name: string): string {
  const wayOut = 'Run "workspace-emulator validate" to see what is wrong with scenarios, and where.'
  if (issues.length === 0) return `${message} ${wayOut}`
  const lines = issues.map(({ pointer, detail }) => `  ${pointer}: ${detail}`)
  return [`The scenario "${name}" cannot be started:`, ...lines, wayOut].join('\n')
}

async function fixturesFailure({ file, issues }: FixturesError): Promise<string> {
  const lines = await locateFixtures(file, issues)
  return ['The fixtures cannot be used:', ...lines.map((issue) => `  ${issueLine(issue.file, issue)}`)].join(
    '\n',
  )
}

async function settingsFailure(file: string, issues: readonly Issue[]): Promise<string> {
  const read = await readJsonFile(file)
  const lines = 'issues' in read ? read.issues : located(read.text, issues)
  return ['The settings cannot be used:', ...lines.map((issue) => `  ${issueLine(file, issue)}`)].join('\n')
}
