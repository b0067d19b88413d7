import type { RequestListener } from 'node:http'
import { join } from 'node:path'
import type { ControlHost, GuardVerdict, ResetOptions } from './doors/control/host.ts'
import { type OnNotice, openPersistence, type Persistence } from './doors/disk/index.ts'
import { FixturesError, readFixtures } from './doors/fixtures.ts'
import { Api } from './doors/http/api.ts'
import { createServer } from './doors/http/front.ts'
import { type AllowedHosts, allowHosts, checkHost, isCrossSiteOrigin } from './doors/http/guard.ts'
import { headerValues } from './doors/http/headers.ts'
import { listen } from './doors/http/listen.ts'
import { readJson } from './doors/http/request.ts'
import { close } from './doors/http/server.ts'
import { keepAwake, later } from './doors/realtime.ts'
import { CONTRACT_VERSION, packageVersion } from './doors/version.ts'
import { type HostTime, hostTime } from './kernel/clock.ts'
import { refuseInvalid } from './kernel/errors.ts'
import type { JsonObject } from './kernel/json.ts'
import { Sandbox } from './kernel/sandbox.ts'
import { buildWorld } from './kernel/starting-world.ts'
import type { WorldState } from './kernel/state.ts'
import { ledger, workspaceService } from './resources/index.ts'

/** How an emulator is started. Everything has a default; the command line has a flag for each. */
export interface EmulatorOptions {
  /** TCP port; 0 for a free one. Default 4010. */
  readonly port?: number
  /** Address to listen on. Default 127.0.0.1. */
  readonly host?: string
  /** Host names beyond the loopback ones under which the emulator may be addressed. */
  readonly allowHosts?: readonly string[]
  /** Origins beyond the loopback ones whose pages may use the API. */
  readonly corsOrigins?: readonly string[]
  /** The starting world: a shipped name, the path of a file, or the document itself. Default `demo`. */
  readonly fixtures?: string | JsonObject
  /** Choices where the specification leaves room; see the assumption ledger. */
  readonly settings?: JsonObject
  /** Decides everything that is left to chance. Default 1. */
  readonly seed?: number
  /** ISO 8601 instant at which a new world starts. Default: the host's clock. */
  readonly clock?: string
  /** Virtual seconds per real second; 0 stands still. Default 1. */
  readonly rate?: number
  readonly skipOnPoll?: boolean
  /** `any`: an unknown key acts as the world's first key of its kind. Default `registered`. */
  readonly auth?: 'registered' | 'any'
  /** Whether rate limits refuse. Default true. */
  readonly limits?: boolean
  readonly strict?: boolean
  /** Asked for by the control interface when set; never an API key. */
  readonly controlToken?: string
  /** Folder of the state files, one JSON file for each world. Default `.workspace-emulator`. */
  readonly data?: string
  /** Keep everything in memory and write nothing to disk. Default false. */
  readonly ephemeral?: boolean
  /** What may not lose an acknowledged write: the death of the process, or a power cut. Default `process`. */
  readonly durability?: 'process' | 'power'
  /** Told of what happens to the state file, and of defects. Default: says nothing. */
  readonly logger?: Logger
  /** The host's time; for tests. */
  readonly hostTime?: HostTime
}

/** Takes what happens, for people and machines to read. */
export interface Logger {
  info(message: string, fields?: Readonly<Record<string, unknown>>): void
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void
  error(message: string, fields?: Readonly<Record<string, unknown>>): void
}

/** A running emulator. */
export interface Emulator {
  /** Ends in `/v1`. */
  readonly baseUrl: string
  readonly controlUrl: string
  readonly port: number
  readonly sandbox: Sandbox
  /** Lets requests in flight finish, saves, and stops listening. */
  close(): Promise<void>
}

/** Starts an emulator and resolves when it answers. Throws when fixtures or settings are wrong, or the port or the state file is taken. */
export async function startEmulator(options: EmulatorOptions = {}): Promise<Emulator> {
  refuseInvalid(ledger.check(options.settings ?? {}))
  const files = options.ephemeral === true ? undefined : openFiles(options)
  try {
    const sandbox = await openSandbox(options, files)
    return await serve(options, sandbox, files)
  } catch (error) {
    await files?.close()
    throw error
  }
}

function openFiles({
  data = '.workspace-emulator',
  durability = 'process',
  logger = SILENT,
}: EmulatorOptions) {
  const file = join(data, 'default.json')
  const onNotice: OnNotice = ({ level, message, ...fields }) => logger[level](message, fields)
  return openPersistence({ file, durability, later, onNotice })
}

// What the options say of a new world does not touch one that is there; what they say of every world does.
async function openSandbox(options: EmulatorOptions, files: Persistence | undefined): Promise<Sandbox> {
  const loaded = await files?.load(workspaceService, ledger, options.strict ?? false)
  const world = loaded?.world ?? (await startingWorld(options))
  const sandbox = new Sandbox(sandboxOptions(options), world, loaded?.floor)
  await files?.attach(sandbox)
  if (loaded === undefined) return sandbox
  const { rate, skipOnPoll, settings } = options
  if (settings !== undefined) sandbox.setSettings(settings)
  const { rate: present } = sandbox.clock
  if ((rate ?? present) !== present || (skipOnPoll ?? sandbox.skipsOnPoll) !== sandbox.skipsOnPoll) {
    sandbox.catchUp()
    sandbox.setClock({ rate, skip_on_poll: skipOnPoll })
  }
  return sandbox
}

async function serve(
  options: EmulatorOptions,
  sandbox: Sandbox,
  files: Persistence | undefined,
): Promise<Emulator> {
  const { host = '127.0.0.1', port = 4010 } = options
  let hosts = allowHosts({ port, bound: host, hosts: [] })
  const api = new Api({
    operations: workspaceService.operations.values(),
    sandbox,
    hosts: () => hosts,
    corsOrigins: options.corsOrigins ?? [],
  })
  let app: Promise<RequestListener> | undefined
  const loadApp = () => {
    app ??= expressApp(
      api,
      controlHost(options, sandbox, () => hosts),
    )
    return app
  }
  const server = createServer(api, loadApp)
  const address = await listen(server, { host, port })
  hosts = allowHosts({ port: address.port, bound: host, hosts: options.allowHosts ?? [] })
  const stopWaking = keepAwake(sandbox)
  const origin = `http://${reachable(host)}:${address.port}`
  return {
    baseUrl: `${origin}/v1`,
    controlUrl: `${origin}/__emulator`,
    port: address.port,
    sandbox,
    close: async () => {
      stopWaking()
      // Who is still being served after that is cut: the last checkpoint must not wait for a reader that never ends.
      const cut = later(GRACE, () => {
        options.logger?.warn(`Some requests in flight were cut: they took more than ${GRACE} ms to finish.`)
        void close(server, { graceful: false })
      })
      await close(server, { graceful: true })
      cut()
      await files?.close()
    },
  }
}

// Express and the control interface are two thirds of the code, and no request of the API needs them.
async function expressApp(api: Api, host: ControlHost): Promise<RequestListener> {
  const [{ createApp }, { controlRouter }] = await Promise.all([
    import('./doors/http/app.ts'),
    import('./doors/control/router.ts'),
  ])
  return createApp(api, controlRouter(host))
}

/** How this machine reaches an address that is listened on. */
function reachable(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1'
  return host.includes(':') ? `[${host}]` : host
}

async function startingWorld(options: EmulatorOptions, anew: ResetOptions = {}): Promise<WorldState> {
  const { rate = 1, skipOnPoll = false, settings = {}, strict = false } = options
  const { fixtures = options.fixtures ?? 'demo', seed = options.seed ?? 1, clock = options.clock } = anew
  const host = options.hostTime ?? hostTime
  const now = clock === undefined ? host() : Date.parse(clock)
  const start = { seed, now, rate, skip_on_poll: skipOnPoll, settings, strict, host }
  const built = await buildWorld(await readFixtures(fixtures), start, workspaceService, ledger)
  if ('world' in built) return built.world
  throw new FixturesError(typeof fixtures === 'string' ? fixtures : '(given)', built.issues)
}

function controlHost(options: EmulatorOptions, sandbox: Sandbox, hosts: () => AllowedHosts): ControlHost {
  return {
    service: workspaceService,
    version: packageVersion(),
    contract: { title: 'Agent Workspace Service', version: CONTRACT_VERSION },
    token: options.controlToken,
    ready: () => true,
    sandbox: () => sandbox,
    guard: (rawHeaders) => guard(rawHeaders, hosts()),
    readJson,
    reset: async (anew) => sandbox.reset(await startingWorld(options, anew)),
    onSurprise: (error) => defect(options, error),
  }
}

function defect({ logger = SILENT }: EmulatorOptions, error: unknown): void {
  logger.error('The emulator has a defect.', { error })
}

/** Milliseconds that requests in flight have to finish when the emulator is closed. */
const GRACE = 1_000

const SILENT: Logger = { info: () => {}, warn: () => {}, error: () => {} }

function guard(rawHeaders: readonly string[], hosts: AllowedHosts): GuardVerdict | undefined {
  const host = checkHost(headerValues(rawHeaders, 'host'), hosts)
  if (!host.ok) return { ...host, code: host.status === 400 ? 'bad_request' : 'forbidden' }
  const [origin] = headerValues(rawHeaders, 'origin')
  if (!isCrossSiteOrigin(origin, hosts)) return undefined
  const detail = `Pages of ${origin} may not use the control interface; only its own origin may.`
  return { status: 403, code: 'forbidden', detail }
}

function sandboxOptions(options: EmulatorOptions) {
  return {
    name: 'default',
    service: workspaceService,
    ledger,
    anyKey: options.auth === 'any',
    enforceLimits: options.limits ?? true,
    strict: options.strict ?? false,
    host: options.hostTime ?? hostTime,
    onSurprise: (error: unknown) => defect(options, error),
  }
}
