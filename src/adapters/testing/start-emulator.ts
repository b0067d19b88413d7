import { Refusal } from '../../core/errors.ts'
import { ListenError, openEmulator, type RunningEmulator } from '../../emulator.ts'
import { checkStartOptions, type EmulatorOptions, startOptions } from '../../options.ts'
import { emulatorClient } from '../control/client/client.ts'
import type { Emulator } from '../control/client/emulator-client.ts'
import { EmulatorError } from '../control/client/emulator-error.ts'
import { KnownKeys } from '../control/client/known-keys.ts'
import type { Transport } from '../control/client/transport.ts'

/**
 * Starts an emulator in this process and resolves when it answers. Rejects when the fixtures (`FixturesError`), another option
 * or the scenario (`EmulatorError`) is wrong, or the port or the state file is taken. At an address that other machines reach it
 * takes a `controlToken`.
 * @example
 * await using emulator = await startEmulator({ port: 0, ephemeral: true, rate: 0 })
 * const response = await emulator.sandbox.fetch('/organization/mcp-servers')
 */
export async function startEmulator(options: EmulatorOptions = {}): Promise<Emulator> {
  const running = await start(options).catch(refuseStart)
  const { controlToken, fixtures = startOptions.fixtures.default } = options
  const keys = new KnownKeys(undefined, fixtures)
  await keys.look(tokensOf(running))
  let closing: Promise<void> | undefined
  const close = (): Promise<void> => {
    closing ??= running.close()
    return closing
  }
  const transport: Transport = async (call) => {
    if (closing !== undefined) throw hasBeenClosed()
    return running.control(call)
  }
  const address = { url: running.url, controlToken }
  const client = emulatorClient({ address, transport, fixtures, keys })
  return { ...client, port: running.port, close, [Symbol.asyncDispose]: close }
}

async function start(options: EmulatorOptions): Promise<RunningEmulator> {
  checkStartOptions(options)
  return openEmulator(options)
}

function tokensOf({ sandbox }: RunningEmulator): unknown[] {
  return [...sandbox.store.rows('api_keys').values()].map((row) => (row as { token?: unknown }).token)
}

function refuseStart(error: unknown): never {
  if (error instanceof ListenError) throw cannotListen(error)
  if (!(error instanceof Refusal)) throw error
  const { code, message, options } = error
  const { issues, mitigation } = options
  const asked = 'startEmulator()'
  throw new EmulatorError({ status: 0, code, detail: message, mitigation, issues, asked }, { cause: error })
}

// The way out stands behind the first sentence, in the words of the command line.
function cannotListen(error: ListenError): EmulatorError {
  const [detail = error.message] = /^.*?\.(?= [A-Z])/.exec(error.message) ?? []
  const mitigation = 'Give another port or host, or port 0 for a free one.'
  return new EmulatorError(
    { status: 0, code: 'cannot_listen', detail, mitigation, asked: 'startEmulator()' },
    { cause: error },
  )
}

function hasBeenClosed(): EmulatorError {
  return new EmulatorError({
    status: 0,
    code: 'closed',
    detail: 'This emulator has been closed.',
    mitigation: 'Start another one: startEmulator().',
  })
}
