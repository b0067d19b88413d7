import { type CommandDeclaration, command } from './command.ts'
import {
  ADVANCE_OPTIONS,
  CLIENT_OPTIONS,
  CREATE_OPTIONS,
  DOCTOR_OPTIONS,
  FAULT_OPTIONS,
  REQUESTS_OPTIONS,
  SANDBOX_OPTIONS,
  SCENARIO_START_OPTIONS,
  START_OPTIONS,
  VALIDATE_OPTIONS,
  WAIT_OPTIONS,
} from './invocation.ts'

export { START_OPTIONS } from './invocation.ts'

const NAME = { name: '<name>', says: 'lower-case letters, digits and hyphens' }

// The emulator's own start decides, of which a client knows nothing.
const AS_STARTED = { shown: 'as the emulator was started' }

const snapshotCommands = [
  command({
    name: 'snapshot',
    says: 'List the snapshots of a sandbox',
    options: SANDBOX_OPTIONS,
    load: async () => (await import('./snapshot-commands.ts')).list,
  }),
  command({
    name: 'snapshot list',
    says: 'List the snapshots, as snapshot alone does',
    options: SANDBOX_OPTIONS,
    load: async () => (await import('./snapshot-commands.ts')).list,
  }),
  command({
    name: 'snapshot save',
    says: 'Save the whole world, clock included; it replaces a snapshot of that name',
    args: [NAME],
    options: SANDBOX_OPTIONS,
    load: async () => (await import('./snapshot-commands.ts')).save,
  }),
  command({
    name: 'snapshot restore',
    says: 'Take everything back to a snapshot, the clock included',
    args: [NAME],
    options: SANDBOX_OPTIONS,
    load: async () => (await import('./snapshot-commands.ts')).restore,
  }),
  command({
    name: 'snapshot delete',
    says: 'Delete a snapshot',
    args: [NAME],
    options: SANDBOX_OPTIONS,
    load: async () => (await import('./snapshot-commands.ts')).remove,
  }),
  command({
    name: 'snapshot export',
    says: 'Write the state document of a snapshot into a file, or on stdout',
    args: [NAME, { name: '[file]', says: 'JSON file to write; one that is there is replaced' }],
    options: SANDBOX_OPTIONS,
    load: async () => (await import('./snapshot-commands.ts')).exportTo,
  }),
  command({
    name: 'snapshot import',
    says: 'Keep the state document of a file as a snapshot',
    args: [NAME, { name: '<file>', says: 'JSON file that holds a state document' }],
    options: SANDBOX_OPTIONS,
    load: async () => (await import('./snapshot-commands.ts')).importFrom,
  }),
]

const sandboxCommands = [
  command({
    name: 'sandbox',
    says: 'List the sandboxes of the emulator',
    options: CLIENT_OPTIONS,
    load: async () => (await import('./sandbox-commands.ts')).list,
  }),
  command({
    name: 'sandbox list',
    says: 'List the sandboxes, as sandbox alone does',
    options: CLIENT_OPTIONS,
    load: async () => (await import('./sandbox-commands.ts')).list,
  }),
  command({
    name: 'sandbox create',
    says: 'Make a sandbox: as the emulator was started, or as the flags say',
    args: [NAME],
    options: CREATE_OPTIONS,
    help: {
      fixtures: AS_STARTED,
      seed: AS_STARTED,
      clock: AS_STARTED,
      settings: AS_STARTED,
      sandbox: { says: 'sandbox whose snapshot --from-snapshot names' },
    },
    load: async () => (await import('./sandbox-commands.ts')).create,
  }),
  command({
    name: 'sandbox delete',
    says: 'Remove a sandbox and all that belongs to it',
    args: [NAME],
    options: CLIENT_OPTIONS,
    load: async () => (await import('./sandbox-commands.ts')).remove,
  }),
]

const faultCommands = [
  command({
    name: 'faults',
    says: 'List the fault rules that are armed',
    options: SANDBOX_OPTIONS,
    load: async () => (await import('./fault-commands.ts')).list,
  }),
  command({
    name: 'faults list',
    says: 'List the fault rules, as faults alone does',
    options: SANDBOX_OPTIONS,
    load: async () => (await import('./fault-commands.ts')).list,
  }),
  command({
    name: 'faults add',
    says: 'Arm a fault rule: a preset, a JSON file or JSON, with what the flags change about it',
    args: [{ name: '<rule>', says: 'name of a preset, path of a JSON file, or JSON in quotes' }],
    options: FAULT_OPTIONS,
    help: {
      operation: { says: 'only requests of an operation: pages.create' },
      method: { says: 'only requests with this method' },
      path: { says: 'only requests to this path from /v1 on; * is any run of characters' },
    },
    load: async () => (await import('./fault-commands.ts')).add,
  }),
  command({
    name: 'faults clear',
    says: 'Remove a fault rule, or all, and say which of them never fired',
    args: [{ name: '[id]', says: 'the rule, as faults lists it' }],
    options: SANDBOX_OPTIONS,
    load: async () => (await import('./fault-commands.ts')).clear,
  }),
  command({
    name: 'faults presets',
    says: 'List the ready-made faults, or show one in full',
    args: [{ name: '[name]', says: 'name of a preset' }],
    options: SANDBOX_OPTIONS,
    load: async () => (await import('./fault-commands.ts')).presets,
  }),
]

const scenarioCommands = [
  command({
    name: 'scenario',
    says: 'List the scenarios and say which is active',
    options: SANDBOX_OPTIONS,
    load: async () => (await import('./scenario-commands.ts')).list,
  }),
  command({
    name: 'scenario list',
    says: 'List the scenarios, as scenario alone does',
    options: SANDBOX_OPTIONS,
    load: async () => (await import('./scenario-commands.ts')).list,
  }),
  command({
    name: 'scenario start',
    says: 'Make a scenario the active one of a sandbox',
    args: [{ name: '<name>', says: 'name of its file, without the ending' }],
    options: SCENARIO_START_OPTIONS,
    load: async () => (await import('./scenario-commands.ts')).start,
  }),
  command({
    name: 'scenario stop',
    says: 'Take back what the active scenario has put into force',
    options: SANDBOX_OPTIONS,
    load: async () => (await import('./scenario-commands.ts')).stop,
  }),
]

/** The command that runs when none is named. */
export const DEFAULT_COMMAND = 'start'

export const commands: readonly CommandDeclaration[] = [
  command({
    name: 'start',
    says: 'Start the emulator (the default command)',
    options: START_OPTIONS,
    load: async () => (await import('./start.ts')).start,
  }),
  command({
    name: 'exec',
    says: 'Run the command behind -- beside an emulator of its own, found by WORKSPACE_BASE_URL and WORKSPACE_API_KEY, and end with its exit code',
    args: [{ name: '<command...>', says: 'behind --, such as -- npm test; no shell reads it' }],
    usage: '[flags] -- <command> [arguments...]',
    options: START_OPTIONS,
    help: {
      port: { says: 'TCP port; 0 takes a free one, which the command is told', shown: '0' },
      data: {
        says: 'directory of the state; without it everything stays in memory and no file is left',
        shown: 'none',
      },
      ephemeral: { says: 'keep everything in memory, whatever --data says' },
      logLevel: { shown: 'warn' },
      quiet: { says: 'only warnings and errors in the log, as without it' },
      json: { says: 'at the end, a summary as one line of JSON on stderr; stdout is for the command' },
    },
    load: async () => (await import('./exec.ts')).exec,
  }),
  command({
    name: 'wait',
    says: 'Wait until an emulator is ready: exit code 0, or 1 when the time is up',
    options: WAIT_OPTIONS,
    load: async () => (await import('./wait.ts')).wait,
  }),
  command({
    name: 'status',
    says: 'Show whether an emulator runs and what its clock says',
    options: SANDBOX_OPTIONS,
    load: async () => (await import('./control-commands.ts')).status,
  }),
  command({
    name: 'clock',
    says: 'Show the virtual clock',
    options: SANDBOX_OPTIONS,
    load: async () => (await import('./control-commands.ts')).clock,
  }),
  command({
    name: 'clock advance',
    says: 'Move the virtual clock forward by a duration, or as far as --to, --steps or --until-batch says; everything that becomes due happens on the way',
    args: [{ name: '[duration]', says: 'such as 90s, 10m, 24h, 29d or PT24H' }],
    options: ADVANCE_OPTIONS,
    help: { status: { says: 'status of the batch to advance to, instead of its end' } },
    load: async () => (await import('./advance-command.ts')).advance,
  }),
  command({
    name: 'reset',
    says: 'Put the starting world back',
    options: SANDBOX_OPTIONS,
    load: async () => (await import('./control-commands.ts')).reset,
  }),
  command({
    name: 'requests',
    says: 'List the newest API requests that the log has',
    options: REQUESTS_OPTIONS,
    help: { status: { says: 'only requests with this status, such as 429, or of this class, such as 4xx' } },
    load: async () => (await import('./request-commands.ts')).requests,
  }),
  command({
    name: 'explain',
    says: 'Explain why an API request was answered as it was; without an id, the latest one',
    args: [{ name: '[request-id]', says: 'as the header X-Emulator-Request-Id of the answer names it' }],
    options: SANDBOX_OPTIONS,
    load: async () => (await import('./request-commands.ts')).explain,
  }),
  ...snapshotCommands,
  ...sandboxCommands,
  ...faultCommands,
  ...scenarioCommands,
  command({
    name: 'validate',
    says: 'Check fixtures, settings, scenarios and fault rules; without files, those that start would use',
    args: [
      {
        name: '[files...]',
        says: 'JSON files, recognised by their members; scripts and directories of scenarios',
      },
    ],
    options: VALIDATE_OPTIONS,
    load: async () => (await import('./validate.ts')).validate,
  }),
  command({
    name: 'doctor',
    says: 'Check that an emulator can start here: exit code 1 when something is in the way',
    options: DOCTOR_OPTIONS,
    load: async () => (await import('./doctor.ts')).doctor,
  }),
]
