import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { Settings } from '../../core/assumptions.ts'
import { openEmulator } from '../../emulator/emulator.ts'
import { CommandFailed, type Invocation } from '../../terminal/command.ts'
import { isDirectory, requireJsonFile } from '../../terminal/json-files.ts'
import { startFailure } from '../../terminal/launch.ts'
import { show } from '../../terminal/print.ts'
import { writeJson, writeText } from '../../terminal/text-file.ts'
import type { DRIFT_OPTIONS } from '../options.ts'
import { judge } from './blame.ts'
import { serviceOf } from './connection.ts'
import { compareLive } from './live.ts'
import { readRecording } from './recording.ts'
import { driftExitCode, driftJunit, driftLines, driftReport } from './report.ts'

/** `drift`: repeats recordings, and says whose fault each difference is. */
export async function drift(invocation: Invocation<typeof DRIFT_OPTIONS>): Promise<number> {
  const { args, options, env } = invocation
  const { base, settings: file, writeSettings, failOn, junit, markdown } = options
  const given = file === undefined ? {} : (await requireJsonFile(file)).document
  const before =
    writeSettings !== undefined && existsSync(writeSettings)
      ? (await requireJsonFile(writeSettings)).document
      : {}
  const service = options.against === undefined ? undefined : serviceOf(options.against, options.keyEnv, env)
  const recordings = args.flatMap(filesIn).map((each) => readRecording(each, base))
  const silent = {
    listen: false,
    ephemeral: true,
    rate: 0,
    limits: false,
    fixtures: 'empty',
    followEndpoints: true,
  }
  const emulator = await openEmulator({ ...silent, endpoints: [], settings: given }).catch(async (error) => {
    throw new CommandFailed(await startFailure(error, { settings: file }))
  })
  try {
    const judged = await judge(recordings, new Settings(given), emulator)
    const live = service && (await compareLive(recordings, service, new Settings(given), options))
    const report = driftReport(recordings, judged, live)
    if (writeSettings !== undefined) writeJson(writeSettings, { ...given, ...before, ...report.settings })
    if (junit !== undefined) writeText(junit, driftJunit(report, failOn))
    show(invocation, report, driftLines(report, markdown))
    return driftExitCode(report, failOn)
  } finally {
    await emulator.close()
  }
}

/** The recordings at a path. */
function filesIn(path: string): string[] {
  if (!isDirectory(path)) return [path]
  const files = readdirSync(path)
    .filter((each) => each.endsWith('.har'))
    .sort()
  if (files.length > 0) return files.map((each) => join(path, each))
  throw new CommandFailed(
    `${path}: has no file that ends in .har. Record one: workspace-emulator drift record`,
  )
}
