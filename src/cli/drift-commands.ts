import { command } from '../terminal/command.ts'
import { DRIFT_OPTIONS, DRIFT_RECORD_OPTIONS } from '../tools/options.ts'

/** The commands about drift from the real service. Their code is loaded when they run. */
export const driftCommands = [
  command({
    name: 'drift',
    description:
      'Repeat recordings of traffic with the real service, and say whose fault each difference is: exit code 1 for a difference, 3 if less than half of the exchanges could be compared',
    args: { '<paths...>': 'HAR files, or directories of them' },
    options: DRIFT_OPTIONS,
    run: async (invocation) => (await import('../tools/drift/command.ts')).drift(invocation),
  }),
  command({
    name: 'drift record',
    description:
      'Run the command after -- with a proxy to the real service (WORKSPACE_BASE_URL), which records its requests and puts in the key, and end with the exit code of the command',
    args: {
      '<command...>':
        'the program to run and its arguments, after --, without a shell: workspace-emulator drift record -- node read.mjs',
    },
    usage: '[flags] -- <command> [arguments...]',
    options: DRIFT_RECORD_OPTIONS,
    run: async (invocation) => (await import('../tools/drift/record.ts')).recordDrift(invocation),
  }),
]
