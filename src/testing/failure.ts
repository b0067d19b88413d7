import { createHash } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { leave } from '../control-client/emulator-error.ts'
import { replayCommand, scriptsOf } from '../core/record/replay-command.ts'
import type { EmulatorClient, SandboxClient } from '../index.ts'
import { unfiredFaults } from './fired-faults.ts'
import { addReport, reportOn } from './report.ts'
import { dashboardLine, isKeptAfterFailure, type WorkspaceFixtures } from './running.ts'

/** A test, as its runner names it. */
export interface NamedTest {
  /** Unique in a run, and the same in each run and each retry. */
  readonly id: string
  readonly file: string
  /** With the names of its suites. */
  readonly name: string
}

/** The fixtures of a test at its end. */
interface EndedFixtures extends Omit<WorkspaceFixtures, 'sandboxOptions'> {
  readonly emulator: EmulatorClient
}

/**
 * Removes the sandbox of a test, after its failure was reported. Rejects if faults that have to fire have not fired.
 * @param tell reports the failure of the test; undefined if it has passed
 */
export async function endTest(
  fixtures: EndedFixtures,
  test: NamedTest,
  tell: ((report: string) => void | Promise<void>) | undefined,
): Promise<void> {
  const { sandbox, failOnUnfiredFaults } = fixtures
  let isFailed = tell !== undefined
  try {
    if (tell !== undefined) return await tell(await failureReport(fixtures, test))
    const unfired = failOnUnfiredFaults ? await unfiredFaults(sandbox) : undefined
    if (unfired === undefined) return
    isFailed = true
    addReport(unfired, await failureReport(fixtures, test))
    throw unfired
  } finally {
    // Realms of Node 20 other than the main one, as in the vm pools of Vitest, lack Symbol.asyncDispose.
    if (!isFailed || !isKeptAfterFailure()) await leave(() => sandbox.delete())
  }
}

// It never rejects: the failure of the test must be reported in any case.
async function failureReport(
  { emulator, sandbox, recordFailures }: EndedFixtures,
  test: NamedTest,
): Promise<string> {
  const lines = [
    await reportOn(sandbox),
    ...(recordFailures === undefined ? [] : [await recorded(sandbox, recordFailures, test)]),
    dashboardLine(emulator, sandbox),
  ]
  return lines.join('\n')
}

/** Writes the recording of a failed test. @returns its line in the report */
async function recorded(sandbox: SandboxClient, directory: string, test: NamedTest): Promise<string> {
  try {
    const bundle = await sandbox.record()
    const text = `${JSON.stringify(bundle, null, 2)}\n`
    const file = join(directory, recordingName(test))
    mkdirSync(directory, { recursive: true })
    // Other users may not read it, as a file of the command record.
    writeFileSync(file, text, { mode: 0o600 })
    return `  to repeat its requests without the test: ${replayCommand(file, scriptsOf(bundle).length > 0)}`
  } catch (error) {
    const { message } = error as Error
    const fix =
      'syscall' in (error as Error) ? '. Set recordFailures to a directory that can be written.' : ''
    return `  the recording was not written: ${message}${fix}`
  }
}

/** The most characters of a file's name that the names of the test have; file systems limit the whole to 255 bytes. */
const MAX_NAME = 120

/** The name of the recording of a test. Tests with the same name, or with names that differ only in special characters, differ in the digest. */
export function recordingName({ id, file, name }: NamedTest): string {
  const words = `${basename(file)}-${name}`.replaceAll(/[^\w.]+/g, '-').slice(0, MAX_NAME)
  const digest = createHash('sha256').update(id).digest('hex').slice(0, 8)
  return `${words.replaceAll(/^[-.]+|[-.]+$/g, '')}-${digest}.json`
}
