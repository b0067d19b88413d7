import { setMaxListeners } from 'node:events'
import type { RequestListener } from 'node:http'
import type { Transport } from './adapters/control/client/transport.ts'
import type { ControlHost } from './adapters/control/host.ts'
import { Api, createServer } from './adapters/http/api.ts'
import { mayEnd } from './adapters/http/connections.ts'
import { allowHosts, refusePage } from './adapters/http/guard.ts'
import { parseJsonBody, readJsonBody } from './adapters/http/json-body.ts'
import { close, listen } from './adapters/http/server.ts'
import { openWhenDue } from './adapters/open-when-due.ts'
import { CONTRACT_VERSION, packageVersion, shippedFile } from './adapters/package.ts'
import { later } from './adapters/realtime.ts'
import type { OnScenarioNotice } from './adapters/scenarios/problem.ts'
import { ScenarioRunner } from './adapters/scenarios/runner.ts'
import type { Lock } from './adapters/storage/index.ts'
import { WebhookSenders } from './adapters/webhooks/senders.ts'
import { Settings } from './core/assumptions.ts'
import { Refusal, refuseInvalid } from './core/errors.ts'
import type { Sandbox } from './core/sandboxes/sandbox.ts'
import { Sandboxes } from './core/sandboxes/sandboxes.ts'
import { hostTime } from './core/time/clock.ts'
import { formatInstant } from './core/time/instant.ts'
import { type InternalOptions, SILENT, startOptions } from './options.ts'
import { assumptions } from './resources/index.ts'
import { lockData, savedSandboxes, WorkspaceSandboxes } from './sandbox-maker.ts'
import { scenarioVocabulary } from './scenario-checks.ts'
import { workspaceService } from './service.ts'

export { ListenError } from './adapters/http/server.ts'
export type { InternalOptions, Logger } from './options.ts'
export { type CheckedScenario, checkScenarios } from './scenario-checks.ts'

/** A running emulator, for code of this package. */
export interface RunningEmulator {
  /** Origin, without a slash at the end. */
  readonly url: string
  /** Ends in `/v1`. */
  readonly baseUrl: string
  readonly controlUrl: string
  readonly port: number
  /** The default sandbox. */
  readonly sandbox: Sandbox
  readonly sandboxes: Sandboxes
  /** The control interface without HTTP; its code is loaded by the first call. */
  readonly control: Transport
  /** The Express application, with the API and the control interface in it; its code is loaded by the first call. */
  readonly app: () => Promise<RequestListener>
  /** Lets requests in flight finish, saves, and stops listening. */
  close(): Promise<void>
}

/** Starts an emulator and resolves when it responds. Throws when fixtures or settings are wrong, or the port or the state file is taken. */
export async function openEmulator(options: InternalOptions = {}): Promise<RunningEmulator> {
  refuseInvalid(assumptions.check(options.settings ?? {}))
  let emulator: RunningEmulator | undefined
  const senders = new WebhookSenders({
    targets: options.allowWebhooks ?? [],
    forbiddenPorts: () => (emulator === undefined ? [] : [emulator.port]),
  })
  const scenarios = await openScenarios(options)
  let [sandboxes, lock]: [Sandboxes?, Lock?] = []
  try {
    lock = await lockData(options)
    const maker = new WorkspaceSandboxes(options, { senders, scenarios: scenarios.runner }, lock)
    sandboxes = await openSandboxes(options, maker)
    // Before the server listens, so that the scenario applies to the first request, too.
    if (options.scenario !== undefined) await scenarios.runner.begin(sandboxes.default, options.scenario)
    emulator = await serve(options, { sandboxes, scenarios, maker, lock })
    lock?.startHeartbeat('soon')
    senders.open()
    return emulator
  } catch (error) {
    await scenarios.close()
    await sandboxes?.close()
    await lock?.release()
    throw error
  }
}

/** The runner of scenarios; `close` also closes the sources of their scripts. */
interface Scenarios {
  readonly runner: ScenarioRunner
  close(): Promise<void>
}

async function openScenarios(options: InternalOptions): Promise<Scenarios> {
  const { scenarios: folder = startOptions.scenarios.default, scenarioSource, settings, strict } = options
  const { logger = SILENT } = options
  const onNotice: OnScenarioNotice = ({ level, message, ...fields }) => logger[level](message, fields)
  if (scenarioSource !== undefined) {
    const runner = new ScenarioRunner({ source: scenarioSource, onNotice })
    return { runner, close: async () => runner.close() }
  }
  const [{ ScenarioLibrary }, { ScenariosWithBuiltIn }] = await Promise.all([
    import('./adapters/scenarios/library.ts'),
    import('./adapters/scenarios/built-in.ts'),
  ])
  const common = { vocabulary: scenarioVocabulary(new Settings(settings, strict)), onNotice }
  const library = new ScenarioLibrary(folder, common)
  const source = new ScenariosWithBuiltIn(library, shippedFile('scenarios'), common)
  const runner = new ScenarioRunner({ source, onNotice })
  return {
    runner,
    close: async () => {
      runner.close()
      await Promise.all([library.close(), source.close()])
    },
  }
}

/** Opens the default sandbox. Other saved sandboxes are opened on first use; only their names are read here. */
async function openSandboxes(options: InternalOptions, maker: WorkspaceSandboxes): Promise<Sandboxes> {
  const sandboxes = new Sandboxes(maker, { strict: options.sandboxes === 'strict' })
  try {
    sandboxes.add(await maker.openDefault(), options.ephemeral !== true)
    sandboxes.addSaved(savedSandboxes(options))
    return sandboxes
  } catch (error) {
    await sandboxes.close()
    throw error
  }
}

interface Parts {
  readonly sandboxes: Sandboxes
  readonly scenarios: Scenarios
  readonly maker: WorkspaceSandboxes
  readonly lock: Lock | undefined
}

async function serve(
  options: InternalOptions,
  { sandboxes, scenarios, maker, lock }: Parts,
): Promise<RunningEmulator> {
  const { host = startOptions.host.default, port = startOptions.port.default } = options
  const hosts = allowHosts(host, options.allowHosts)
  const closing = new AbortController()
  // Every waiting request adds a listener; Node would warn about more than ten.
  setMaxListeners(0, closing.signal)
  const api = new Api({
    operations: workspaceService.operations.values(),
    sandboxes,
    hosts,
    corsOrigins: options.corsOrigins ?? [],
    closing: closing.signal,
  })
  const context: ControlHost = {
    service: workspaceService,
    version: packageVersion(),
    startedAt: formatInstant(hostTime()),
    contract: { title: 'Agent Workspace Service', version: CONTRACT_VERSION },
    token: options.controlToken,
    sandboxes,
    scenarios: scenarios.runner,
    lockLost: () => lock?.lost,
    closing: closing.signal,
    guard: (req) => refusePage(req, hosts),
    readJson: readJsonBody,
    parseJson: parseJsonBody,
    mayEnd,
    shutdown: options.onShutdown,
    onDefect: (error) => options.logger?.error('The emulator has a defect.', { error }),
  }
  let app: Promise<RequestListener> | undefined
  const loadApp = () => {
    app ??= expressApp(api, context)
    return app
  }
  const server = createServer(api, loadApp, (message) => options.logger?.warn(message))
  const address = await listen(server, { host, port })
  const stopOpening = openWhenDue({
    sandboxes,
    wakeTime: (name) => maker.wakeTime(name),
    onProblem: (name, error) => tellBroken(options, sandboxes, name, error),
    later,
    host: options.hostTime ?? hostTime,
  })
  const origin = `http://${reachable(host)}:${address.port}`
  maker.origin = origin
  return {
    url: origin,
    baseUrl: `${origin}/v1`,
    controlUrl: `${origin}/__emulator`,
    port: address.port,
    sandbox: sandboxes.default,
    sandboxes,
    control: controlWithoutHttp(context),
    app: loadApp,
    close: async () => {
      closing.abort()
      stopOpening()
      // Requests that take longer are cut: the last checkpoint must not wait for a client that never finishes reading.
      const cut = later(GRACE, () => {
        options.logger?.warn(`Some requests in flight were cut: they took more than ${GRACE} ms to finish.`)
        void close(server, { graceful: false })
      })
      await close(server, { graceful: true })
      cut()
      await scenarios.close()
      await sandboxes.close()
      maker.tellLeft()
      // The lock is released last: until then no other process may touch the files.
      await lock?.release()
    },
  }
}

// Express and the control interface are two thirds of the code, and no request of the API needs them.
async function expressApp(api: Api, host: ControlHost): Promise<RequestListener> {
  const [{ createApp }, { controlRouter }, { consentPages }, { dashboardPages }] = await Promise.all([
    import('./adapters/http/app.ts'),
    import('./adapters/control/router.ts'),
    import('./adapters/consent/pages.ts'),
    import('./adapters/dashboard/pages.ts'),
  ])
  const dashboard = dashboardPages({
    folder: shippedFile('dist', 'dashboard'),
    guard: host.guard,
    refuse: (req, res, refusal) => void api.refuse(req, res, refusal),
  })
  return createApp(api, { control: controlRouter(host), consent: consentPages(host), dashboard })
}

function controlWithoutHttp(host: ControlHost): Transport {
  let loaded: Promise<Transport> | undefined
  return async (call) => {
    loaded ??= import('./adapters/control/in-process.ts').then(({ inProcess }) => inProcess(host))
    return (await loaded)(call)
  }
}

/** The host under which this machine reaches a server that listens on `host`. */
function reachable(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1'
  return host.includes(':') ? `[${host}]` : host
}

function tellBroken(
  { logger = SILENT }: InternalOptions,
  sandboxes: Sandboxes,
  name: string,
  error: unknown,
): void {
  if (!(error instanceof Refusal)) logger.error('The emulator has a defect.', { error })
  else {
    sandboxes.cannotOpen(name, error.message)
    logger.error(`${error.message} ${error.options.mitigation ?? ''}`.trimEnd(), { event: 'sandbox_broken' })
  }
}

/** Milliseconds that requests in flight have to finish when the emulator is closed. */
const GRACE = 1_000
