import { shippedFile } from '../adapters/package.ts'
import { directFetch } from '../control-client/direct.ts'
import { emulatorClient } from '../control-client/emulator.ts'
import { EmulatorError } from '../control-client/emulator-error.ts'
import { KnownKeys } from '../control-client/keys.ts'
import type { Extend, SandboxOf } from '../control-client/sandbox.ts'
import type { Transport } from '../control-client/transport.ts'
import { Refusal } from '../core/errors.ts'
import { isFakeTime } from '../core/time/real.ts'
import type { MountedHandler } from '../server/handlers.ts'
import type { FetchHandler } from '../server/http/fetch.ts'
import type { ListenError, RunningEmulator } from './emulator.ts'
import { checkStartOptions, type EmulatorOptions, startOptions } from './options.ts'

/** An emulator that runs in this process. Disposing of it closes it. */
export type RunningOf<Sandbox extends SandboxOf<never>> = Readonly<
  Awaited<ReturnType<typeof startWith<Sandbox>>>
>

/** Starts an emulator, with a client in the process. @param extend adds the methods of this service */
export async function startWith<Sandbox extends SandboxOf<never>>(
  extend: Extend<Sandbox>,
  options: EmulatorOptions = {},
) {
  if (isFakeTime) throw new Error(FAKE)
  // In a bundle of a user, this is the first to fail, with a message that says so.
  shippedFile('package.json')
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
  const fetch: FetchHandler = async (...given) => {
    if (closing !== undefined) throw hasBeenClosed()
    return running.fetch(...given)
  }
  const address = { url: running.url, controlToken, fetch: options.listen === false ? fetch : directFetch }
  const client = emulatorClient({ address, transport, extend, fixtures, keys })
  return {
    ...client,
    /** The port that the emulator listens on; 0 with `listen: false`. */
    port: running.port,
    /**
     * An Express application that serves API, control interface, dashboard and consent pages, also without a port.
     * @example
     * await request(emulator.app).get('/v1/pages').set('Authorization', `Bearer ${sandbox.apiKey}`) // supertest
     */
    get app(): MountedHandler {
      return running.app
    },
    /**
     * The same as an Express router, for any path of another application. Mount it before `express.json()`.
     * @example
     * app.use('/emulator', emulator.router())
     */
    router: running.router,
    /**
     * The same without a network: the response to a `Request`, or to the arguments of the global `fetch`. The path begins as on the
     * emulator's port. Rejects like the global `fetch` when there is no response.
     * @example
     * http.all(`${emulator.baseUrl}/*`, ({ request }) => emulator.fetch(request)) // Mock Service Worker
     */
    fetch,
    /** Lets requests in flight finish (for at most 1 s), saves, and stops listening. Further calls have no effect. */
    close,
    [Symbol.asyncDispose]: close,
  }
}

const FAKE =
  'The timers were already fake when agent-workspace-emulator was imported, so an emulator would wait forever. Import it before the call of vi.useFakeTimers().'

async function start(options: EmulatorOptions): Promise<RunningEmulator> {
  checkStartOptions(options)
  // Half of the code is loaded here: a test that only calls connect() does not wait for it.
  const { openEmulator } = await import('./emulator.ts')
  return openEmulator(options)
}

function tokensOf({ sandbox }: RunningEmulator): unknown[] {
  return [...sandbox.store.rows('api_keys').values()].map((row) => (row as { token?: unknown }).token)
}

async function refuseStart(error: unknown): Promise<never> {
  const { ListenError } = await import('./emulator.ts')
  if (error instanceof ListenError) throw cannotListen(error)
  if (!(error instanceof Refusal)) throw error
  const { code, message, options } = error
  const { issues, mitigation } = options
  const asked = 'startEmulator()'
  throw new EmulatorError({ status: 0, code, detail: message, mitigation, issues, asked }, { cause: error })
}

// Keeps only the first sentence: the rest of the message is a fix in terms of the command line.
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
