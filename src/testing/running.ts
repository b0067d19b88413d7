import {
  connect,
  type EmulatorClient,
  type EmulatorOptions,
  type SandboxClient,
  type SandboxStart,
  startEmulator,
} from '../index.ts'

/** Defaults for tests: nothing is saved, and the clock moves only when a test advances it. */
const USUAL: EmulatorOptions = { port: 0, ephemeral: true, rate: 0 }

/** Options that also apply to a sandbox that is created on a running emulator. */
const OF_A_SANDBOX: ReadonlySet<string> = new Set([
  'fixtures',
  'seed',
  'clock',
  'rate',
  'skipOnPoll',
  'settings',
  'scenario',
])

/** Options of the process only, which can be ignored for an emulator that is already running. */
const OF_A_PROCESS: ReadonlySet<string> = new Set([
  'port',
  'host',
  'ephemeral',
  'data',
  'scenarios',
  'logger',
])

/**
 * A client of the emulator that the environment names (as `workspace-emulator exec` does), or else of a new one in this process.
 * Rejects when the running emulator would need options that only apply at its start. `close` stops only a new one.
 */
export async function emulatorForTests(
  options: EmulatorOptions,
): Promise<{ readonly client: EmulatorClient; close(): Promise<void> }> {
  const given = givenEmulator()
  if (given === undefined) {
    const said = Object.entries(options).filter(([, value]) => value !== undefined)
    const emulator = await startEmulator({ ...USUAL, ...Object.fromEntries(said) })
    return { client: emulator, close: () => emulator.close() }
  }
  const { url, ...keys } = given
  refuseStartOptions(options, url)
  return { client: connect(url, keys), close: async () => {} }
}

/** The options for every sandbox. An emulator that another process has started does not have the options of the tests. */
export function startOfSandboxes(options: EmulatorOptions): SandboxStart {
  if (givenEmulator() === undefined) return {}
  const own = Object.entries(options).filter(([name]) => OF_A_SANDBOX.has(name))
  return { rate: 0, ...Object.fromEntries(own) }
}

function refuseStartOptions(options: EmulatorOptions, url: string): void {
  const odd = Object.keys(options).filter((name) => !OF_A_SANDBOX.has(name) && !OF_A_PROCESS.has(name))
  if (odd.length === 0) return
  throw new Error(
    `emulatorOptions has ${odd.join(', ')}, which can be set only when an emulator starts, but the tests use an emulator that is already running: ${url} (WORKSPACE_EMULATOR_URL). Start it with these options, or unset the variable: each file then starts its own emulator.`,
  )
}

/** The emulator that the environment names, as that of `workspace-emulator exec` does; undefined when tests have to start one. */
function givenEmulator() {
  const {
    WORKSPACE_EMULATOR_URL: url = '',
    WORKSPACE_EMULATOR_CONTROL_TOKEN: controlToken = '',
    WORKSPACE_API_KEY: apiKey = '',
  } = process.env
  // Without the address of an emulator the key is not used: it may be one of the real service.
  return url === ''
    ? undefined
    : { url, controlToken: controlToken || undefined, apiKey: apiKey || undefined }
}

/** Whether the sandbox of a failed test is kept: only on an emulator that another process has started, which outlives the test. */
export const isKeptAfterFailure = (): boolean => givenEmulator() !== undefined

/** How to open the sandbox of a failed test in the dashboard, as the last line of its report. */
export function dashboardLine({ url }: EmulatorClient, { name }: SandboxClient): string {
  if (process.env.WORKSPACE_EMULATOR_KEEP === 'false')
    return '  to keep it for the dashboard, run the tests with exec --keep'
  return isKeptAfterFailure()
    ? `  kept in the dashboard while the emulator runs: ${url}/__emulator/ui/#/${name}/requests`
    : '  to keep it for the dashboard, run the tests with WORKSPACE_EMULATOR_URL set to a running emulator'
}

/** Fixtures of each test. */
export interface WorkspaceFixtures {
  /** A sandbox that is created for the test and removed after it; kept if the test fails on an emulator that was running before. */
  readonly sandbox: SandboxClient
  /** How it starts: fixtures, seed, clock, rate, skipOnPoll, settings, scenario. Default: the options of the emulator. */
  readonly sandboxOptions: SandboxStart
  /** Whether a test fails if its sandbox has faults that never fired. Default false. */
  readonly failOnUnfiredFaults: boolean
  /**
   * Directory for a recording of each failed test, relative to the working directory. It is created. Default: none is written.
   * @example
   * const test = base.extend('recordFailures', 'recordings')
   */
  readonly recordFailures: string | undefined
}

/** Fixtures that tests share. */
export interface WorkspaceSharedFixtures {
  /** The emulator of the sandboxes. */
  readonly emulator: EmulatorClient
  /** Start options. Default: a free port, everything in memory, a frozen clock; else the defaults of `startEmulator`. */
  readonly emulatorOptions: EmulatorOptions
}
