import { Refusal } from '../../kernel/errors.ts'
import type { Issue } from '../../kernel/json.ts'
import { FixturesError } from '../fixtures.ts'
import { locateFixtures } from './fixtures-lines.ts'
import { issueLine, located, readJsonFile } from './json-files.ts'
import { oneLine } from './process-events.ts'

/** Why the emulator did not start, for people: what, where (with line numbers, where a file is to blame), the way out. */
export async function startFailure(error: unknown, settingsFile: string | undefined): Promise<string> {
  if (error instanceof FixturesError) return fixturesFailure(error)
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
