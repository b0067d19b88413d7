import {
  connect,
  type EmulatorClient,
  type EmulatorOptions,
  type SandboxStart,
  startEmulator,
} from '../../index.ts'
import { givenEmulator } from './environment.ts'

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
