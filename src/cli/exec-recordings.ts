import { join } from 'node:path'
import { annotation } from '../core/quoted.ts'
import { replayCommand, scriptsOf } from '../core/record/replay-command.ts'
import type { RunningEmulator } from '../emulator/emulator.ts'
import type { Logger } from '../emulator/options.ts'
import { requireWritable, writeRecording } from '../terminal/text-file.ts'

/** Maximum number of sandboxes that are recorded: a process may have thousands. */
const MAX_RECORDED = 20

/**
 * Records the sandboxes that had requests and still exist, the newest ones: fixtures remove those of tests that passed. A
 * recording that cannot be written is a warning, since the run has failed for another reason.
 */
export async function recordFailures(emulator: RunningEmulator, directory: string, logger: Logger) {
  const used = emulator.sandboxes.list().filter(({ sandbox }) => sandbox.recording.hasRequests)
  const files: string[] = []
  const scripted: string[] = []
  try {
    // The command may have removed it.
    requireWritable(directory, 'recordFailures')
    for (const { sandbox } of used.slice(-MAX_RECORDED)) {
      // The prefix keeps names apart that are devices on Windows, such as con.
      const file = join(directory, `sandbox-${sandbox.name}.json`)
      const bundle = await emulator.record(sandbox)
      writeRecording(file, bundle)
      files.push(file)
      if (scriptsOf(bundle).length > 0) scripted.push(file)
    }
  } catch (error) {
    logger.warn((error as Error).message)
  }
  /** `scripted`: the files that contain scripts; `sandboxes`: the number of those that had requests. */
  return { files, scripted, sandboxes: used.length }
}

/** The recordings of a failed run for people, in a GitHub workflow as an annotation. */
export function recordingLines(
  { files, scripted, sandboxes }: Awaited<ReturnType<typeof recordFailures>>,
  isWorkflow: boolean,
): string[] {
  if (files.length === 0) return []
  const newest = sandboxes > files.length ? `, the newest ${files.length} of ${sandboxes}` : ''
  const title = `Recordings of the sandboxes${newest}`
  const commands = files.map((file) => replayCommand(file, scripted.includes(file)))
  return isWorkflow
    ? [annotation('notice', title, commands)]
    : [`${title}:`, ...commands.map((each) => `  ${each}`)]
}
