import { toggle } from '../emulator/option.ts'
import { described, failing, freeText, PRINT_OPTIONS, START_OPTIONS } from '../terminal/options.ts'

const { port, host, data, fixtures, settings, scenarios, endpoints } = START_OPTIONS

export const EXEC_OPTIONS = {
  ...START_OPTIONS,
  port: {
    ...described(port, 'TCP port; 0 chooses a free port, which the command finds in its variables'),
    default: 0,
  },
  data: described(data, 'directory of the state; without it everything stays in memory', 'none'),
  ephemeral: described(START_OPTIONS.ephemeral, 'keep everything in memory, even with --data'),
  logLevel: { ...START_OPTIONS.logLevel, default: 'warn' as const },
  logRequests: { ...START_OPTIONS.logRequests, shown: 'off' },
  quiet: described(START_OPTIONS.quiet, 'only warnings and errors in the log, which is the default of exec'),
  json: described(PRINT_OPTIONS.json, 'at the end, a summary as one line of JSON on stderr'),
  coverage: freeText('file', 'file of the points of the contract that clients have met; earlier ones stay'),
  conduct: failing('a client has a finding'),
  recordFailures: freeText('directory', 'directory for recordings of used sandboxes, if the command fails'),
  requireRequests: toggle('exit with 1 if no request came to the emulator'),
  keep: toggle('keep the emulator after the command, for a look at its dashboard, until Ctrl-C'),
}

export const INIT_OPTIONS = {
  vitest: toggle('a test for Vitest; without this flag and --playwright, package.json decides'),
  playwright: toggle('a test for Playwright'),
  endpointExamples: {
    ...toggle('examples of endpoints of your own: chat with a streamed answer, messages, search, files'),
    flag: 'endpoints',
    variable: 'init-endpoints',
  },
  drift: toggle('a weekly CI job that compares recordings with the service and the emulator'),
  agents: toggle('a skill that tells coding agents how to use the emulator'),
  dryRun: toggle('list the files, and write none'),
  yes: toggle('write without a question'),
  ...PRINT_OPTIONS,
}

export const VALIDATE_OPTIONS = { fixtures, settings, scenarios, endpoints, ...PRINT_OPTIONS }

export const DOCTOR_OPTIONS = { port, host, data, ...PRINT_OPTIONS }
