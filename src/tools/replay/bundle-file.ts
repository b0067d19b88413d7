import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve, sep } from 'node:path'
import { packageVersion } from '../../adapters/package.ts'
import { Refusal } from '../../core/errors.ts'
import { BUNDLE_FORMAT, type RecordingBundle, recordingBundle } from '../../core/record/bundle.ts'
import { parsed, zodIssues } from '../../core/zod-issues.ts'
import { CommandFailed } from '../../terminal/command.ts'
import { listed, located, requireJsonFile } from '../../terminal/json-files.ts'

/** Reads a recording. Throws {@link CommandFailed} for a file that is none, or a damaged or newer one. */
export async function readBundle(file: string): Promise<RecordingBundle> {
  const { text, document } = await requireJsonFile(file)
  const { recording } = document
  if (typeof recording !== 'number')
    throw new CommandFailed(
      `${file} is not a recording. "workspace-emulator record -o FILE" writes one, of an emulator that runs.`,
    )
  if (recording > BUNDLE_FORMAT)
    throw new CommandFailed(
      `${file} was written by a newer emulator: it has the format ${recording}, and version ${packageVersion()} reads ${BUNDLE_FORMAT}. Install the version in its field "emulator", or a later one.`,
    )
  try {
    const { data, error } = parsed(recordingBundle(), document)
    if (error === undefined) return data
    throw damaged(file, text, [...zodIssues(error, '')])
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw new CommandFailed(`${file} is damaged: it is nested too deeply for a recording.`)
  }
}

/** The refusal of the state of a recording as an error about its file; other errors are returned unchanged. */
export async function refusedState(file: string, error: unknown): Promise<unknown> {
  if (!(error instanceof Refusal) || error.options.issues === undefined) return error
  const { text } = await requireJsonFile(file)
  const issues = [...error.options.issues].map((issue) => ({ ...issue, pointer: `/state${issue.pointer}` }))
  return damaged(file, text, issues)
}

function damaged(file: string, text: string, issues: Parameters<typeof located>[2]): CommandFailed {
  return new CommandFailed(listed('The recording is damaged:', located(file, text, issues)))
}

/** Writes the scenarios of a recording into a directory of its own. `remove` deletes it. Throws {@link CommandFailed}. */
export function scenarioFiles({ scenarios }: RecordingBundle): { readonly folder: string; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), 'workspace-emulator-replay-'))
  const remove = () => rmSync(folder, { recursive: true, force: true })
  for (const [name, text] of Object.entries(scenarios)) {
    const file = resolve(folder, name)
    try {
      if (!file.startsWith(folder + sep)) throw new Error('is outside of its directory')
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, text)
    } catch (error) {
      remove()
      throw new CommandFailed(
        `The scenario ${JSON.stringify(name)} of the recording cannot be written: ${(error as Error).message}.`,
      )
    }
  }
  return { folder, remove }
}
