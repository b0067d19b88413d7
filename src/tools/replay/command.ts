import { packageVersion } from '../../adapters/package.ts'
import type { RecordingBundle } from '../../core/record/bundle.ts'
import { scriptsOf } from '../../core/record/replay-command.ts'
import { counted } from '../../core/words.ts'
import { hasFilesOf } from '../../endpoints/recorded.ts'
import { CommandFailed, FAILED, type Invocation, OK } from '../../terminal/command.ts'
import { isNpmScript, UsageError } from '../../terminal/options.ts'
import { show } from '../../terminal/print.ts'
import { untilStopped } from '../../terminal/signals.ts'
import type { REPLAY_OPTIONS } from '../options.ts'
import { readBundle, refusedState, scenarioFiles } from './bundle-file.ts'
import { type Replayed, replayBundle } from './run.ts'

/** `replay`: repeats a recording, and ends with 1 if an output differs. */
export async function replayFile(invocation: Invocation<typeof REPLAY_OPTIONS>): Promise<number> {
  const { options, terminal, env } = invocation
  const [file = ''] = invocation.args
  const bundle = await readBundle(file)
  const { until = bundle.inputs.length, exportTo } = options
  if (until > bundle.inputs.length)
    throw new UsageError([
      `--until ${until}: the recording has only ${counted(bundle.inputs.length, 'input')}.`,
    ])
  if (exportTo === 'vitest') {
    const { vitestOf } = await import('./export.ts')
    terminal.out(vitestOf(bundle, file))
    return OK
  }
  const scripts = scriptsOf(bundle)
  if (scripts.length > 0 && !options.runScripts)
    throw new CommandFailed(
      `${file} contains scripts, which would run with the rights of your user: ${scripts.join(', ')}. Read them in its field "scenarios", then add --run-scripts.`,
    )
  const { folder, remove } = scenarioFiles(bundle)
  try {
    const listen = options.until !== undefined
    const own = bundle.endpoints && (await hasFilesOf(bundle.endpoints, options.endpoints))
    const files = own === true ? { endpoints: options.endpoints } : {}
    const replayed = await replayBundle(bundle, { until, scenarios: folder, listen, ...files }).catch(
      async (error: unknown) => {
        throw await refusedState(file, error)
      },
    )
    const { emulator, difference } = replayed
    const url = listen ? `${emulator.controlUrl}/ui/` : undefined
    const { dropped, not_reproducible } = bundle
    const endpoints = own === undefined ? null : own ? 'run' : 'recorded'
    const result = {
      file,
      inputs: until,
      dropped,
      not_reproducible,
      endpoints,
      url,
      difference: difference ?? null,
    }
    const how = {
      run: `The endpoints of ${options.endpoints} are those of the recording, and were run.`,
      recorded: 'Your own endpoints have responded as recorded; their files were not run.',
    }
    const lines = linesOf(replayed, until, bundle, url)
    show(invocation, result, endpoints === null ? lines : [how[endpoints], ...lines])
    if (listen) await untilStopped(() => emulator.close(), isNpmScript(env))
    else await emulator.close()
    return difference === undefined ? OK : FAILED
  } finally {
    remove()
  }
}

function linesOf(
  { difference }: Replayed,
  inputs: number,
  { dropped, emulator, not_reproducible: notReproducible }: RecordingBundle,
  url: string | undefined,
): string[] {
  const result =
    difference === undefined
      ? [`${counted(inputs, 'input')} repeated: every output is the same, byte for byte.`]
      : [
          `Input ${difference.input} (${difference.what}) has another output: ${difference.place}`,
          `  recorded  ${difference.recorded}`,
          `  replayed  ${difference.replayed}`,
          ...(emulator.version === packageVersion()
            ? []
            : [`The recording is of version ${emulator.version}, and this is ${packageVersion()}.`]),
        ]
  return [
    ...notReproducible.map((sentence) => `Not reproducible: ${sentence}`),
    ...(dropped === 0 ? [] : [`The recording begins after ${counted(dropped, 'input')} that were dropped.`]),
    ...result,
    ...(url === undefined ? [] : [`Stopped after input ${inputs}: ${url}`]),
  ]
}
