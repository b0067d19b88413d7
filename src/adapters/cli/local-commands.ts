import { packageVersion } from '../package.ts'
import { command } from './command.ts'
import { START_OPTIONS } from './options.ts'
import { show } from './print.ts'

// The commands that need no running emulator. Their code is loaded when they run.

export const startCommands = [
  command({
    name: 'start',
    description: 'Start the emulator (the default command)',
    options: [...START_OPTIONS, 'detach'],
    run: async (invocation) =>
      invocation.options.detach
        ? (await import('./detach.ts')).startDetached(invocation)
        : (await import('./start.ts')).start(invocation),
  }),
]

export const execCommands = [
  command({
    name: 'exec',
    description:
      'Run the command after -- with its own emulator (WORKSPACE_BASE_URL, WORKSPACE_API_KEY), and end with the exit code of the command',
    args: [{ name: '<command...>', description: 'after --, such as -- npm test; it runs without a shell' }],
    usage: '[flags] -- <command> [arguments...]',
    options: START_OPTIONS,
    help: {
      port: {
        description: 'TCP port; 0 chooses a free port, which the command finds in its variables',
        shown: '0',
      },
      data: {
        description: 'directory of the state; without it everything stays in memory and no file is written',
        shown: 'none',
      },
      ephemeral: { description: 'keep everything in memory, even with --data' },
      logLevel: { shown: 'warn' },
      logRequests: { shown: 'off' },
      quiet: { description: 'only warnings and errors in the log, which is the default of exec' },
      json: { description: 'at the end, a summary as one line of JSON on stderr; stdout is for the command' },
    },
    run: async (invocation) => (await import('./exec.ts')).exec(invocation),
  }),
]

export const validateCommands = [
  command({
    name: 'validate',
    description:
      'Check fixtures, settings, scenarios and fault rules; without files, those that start would use',
    args: [
      {
        name: '[files...]',
        description: 'JSON files, recognised by their fields; scripts and directories of scenarios',
      },
    ],
    options: ['fixtures', 'settings', 'scenarios', 'json'],
    run: async (invocation) => (await import('./validate.ts')).validate(invocation),
  }),
]

export const doctorCommands = [
  command({
    name: 'doctor',
    description: 'Check that an emulator can start here: exit code 1 when a check fails',
    options: ['port', 'host', 'data', 'json'],
    run: async (invocation) => (await import('./doctor.ts')).doctor(invocation),
  }),
]

export const versionCommands = [
  command({
    name: 'version',
    description: 'Print the version of the package',
    options: ['json'],
    run: async (invocation) => show(invocation, { version: packageVersion() }, [packageVersion()]),
  }),
]
