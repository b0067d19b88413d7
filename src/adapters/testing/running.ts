import {
  connect,
  type EmulatorClient,
  type EmulatorOptions,
  type SandboxClient,
  type SandboxStart,
  startEmulator,
} from '../../index.ts'

/** An emulator for tests, and how to let go of it. */
export interface EmulatorForTests {
  readonly client: EmulatorClient
  close(): Promise<void>
}

/** What tests start with: nothing is kept, and no time passes unless a test says so. */
const USUAL: EmulatorOptions = { port: 0, ephemeral: true, rate: 0 }

/** What can also be said of a sandbox that is made on an emulator which runs already. */
const OF_A_SANDBOX: ReadonlySet<string> = new Set([
  'fixtures',
  'seed',
  'clock',
  'rate',
  'skipOnPoll',
  'settings',
  'scenario',
])

/** What is about the process alone, so that tests are the same without it. */
const OF_A_PROCESS: ReadonlySet<string> = new Set([
  'port',
  'host',
  'ephemeral',
  'data',
  'scenarios',
  'logger',
])

/**
 * The emulator that the environment names (`workspace-emulator exec` does), or one of its own in this process. Rejects when the
 * former is to have options that only a start can follow.
 */
export async function emulatorForTests(options: EmulatorOptions): Promise<EmulatorForTests> {
  const given = givenEmulator()
  if (given === undefined) {
    const said = Object.entries(options).filter(([, value]) => value !== undefined)
    const emulator = await startEmulator({ ...USUAL, ...Object.fromEntries(said) })
    return { client: emulator, close: () => emulator.close() }
  }
  const { url, controlToken, apiKey } = given
  refuseStartOptions(options, url)
  const keys = { ...(controlToken && { controlToken }), ...(apiKey && { apiKey }) }
  return { client: connect(url, keys), close: async () => {} }
}

/** What every sandbox is to start with: one that this process has not started does not know its options. */
export function startOfSandboxes(options: EmulatorOptions): SandboxStart {
  if (givenEmulator() === undefined) return {}
  const own = Object.entries(options).filter(([name]) => OF_A_SANDBOX.has(name))
  return { rate: 0, ...Object.fromEntries(own) }
}

function refuseStartOptions(options: EmulatorOptions, url: string): void {
  const odd = Object.keys(options).filter((name) => !OF_A_SANDBOX.has(name) && !OF_A_PROCESS.has(name))
  if (odd.length === 0) return
  throw new Error(
    `emulatorOptions has ${odd.join(', ')}, which an emulator takes at its start, but the tests were given one that runs already: ${url} (WORKSPACE_EMULATOR_URL). Start that one so, or unset the variable, and each file starts its own.`,
  )
}

/** An emulator that runs already, as `workspace-emulator exec` tells the commands that it runs. */
interface GivenEmulator {
  readonly url: string
  readonly controlToken: string | undefined
  readonly apiKey: string | undefined
}

/** The emulator that the environment names; undefined when tests are to start one of their own. */
function givenEmulator(): GivenEmulator | undefined {
  const {
    WORKSPACE_EMULATOR_URL: url = '',
    WORKSPACE_EMULATOR_CONTROL_TOKEN: controlToken,
    WORKSPACE_API_KEY: apiKey,
  } = process.env
  // A key is the emulator's own only beside its address: alone it may well be one of the real service.
  return url === '' ? undefined : { url, controlToken, apiKey }
}

/** What each test has to itself. */
export interface WorkspaceFixtures {
  /** A sandbox of the test's own, made for it and removed behind it. */
  readonly sandbox: SandboxClient
  /** How the sandbox starts: fixtures, seed, clock, rate, skipOnPoll, settings, scenario. Default: as the emulator was started. */
  readonly sandboxOptions: SandboxStart
  /** Whether a test fails whose sandbox has faults at its end that never fired. Default false. */
  readonly failOnUnfiredFaults: boolean
}

/** What tests share. */
export interface WorkspaceSharedFixtures {
  /** The emulator that the sandboxes are on. */
  readonly emulator: EmulatorClient
  /** How it is started. Default: a free port, everything in memory, a clock that stands still; else as `startEmulator` has it. */
  readonly emulatorOptions: EmulatorOptions
}
