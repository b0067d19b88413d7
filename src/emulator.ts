import { setMaxListeners } from 'node:events'
import { existsSync } from 'node:fs'
import type { RequestListener } from 'node:http'
import type { Transport } from './doors/control/client/transport.ts'
import type { ControlHost, GuardVerdict } from './doors/control/host.ts'
import { shippedFile } from './doors/fixtures.ts'
import { Api } from './doors/http/api.ts'
import { createServer } from './doors/http/front.ts'
import { type AllowedHosts, allowHosts, checkHost, isCrossSiteOrigin } from './doors/http/guard.ts'
import { headerValues } from './doors/http/headers.ts'
import { listen } from './doors/http/listen.ts'
import { parseBody, readJson } from './doors/http/request.ts'
import { close } from './doors/http/server.ts'
import { later } from './doors/realtime.ts'
import type { OnScenarioNotice } from './doors/scenarios/notice.ts'
import { ScenarioRunner } from './doors/scenarios/runner.ts'
import { CONTRACT_VERSION, packageVersion } from './doors/version.ts'
import { Couriers } from './doors/webhooks/couriers.ts'
import { Settings } from './kernel/assumptions.ts'
import { refuseInvalid } from './kernel/errors.ts'
import type { Sandbox } from './kernel/worlds/sandbox.ts'
import { DEFAULT_SANDBOX, Sandboxes } from './kernel/worlds/sandboxes.ts'
import { type HouseOptions, SILENT } from './options.ts'
import { ledger, workspaceService } from './resources/index.ts'
import { EmulatorSandboxes, type SandboxDoors, savedSandboxes } from './sandbox-maker.ts'
import { scenarioVocabulary } from './scenario-checks.ts'

export { ListenError } from './doors/http/listen.ts'
export type { HouseOptions, Logger } from './options.ts'
export { type CheckedScenario, checkScenarios } from './scenario-checks.ts'

/** A running emulator, as the house itself knows it. */
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
  /** Lets requests in flight finish, saves, and stops listening. */
  close(): Promise<void>
}

/** Starts an emulator and resolves when it answers. Throws when fixtures or settings are wrong, or the port or the state file is taken. */
export async function openEmulator(options: HouseOptions = {}): Promise<RunningEmulator> {
  refuseInvalid(ledger.check(options.settings ?? {}))
  let emulator: RunningEmulator | undefined
  const couriers = new Couriers({
    targets: options.allowWebhooks ?? [],
    forbiddenPorts: () => (emulator === undefined ? [] : [emulator.port]),
  })
  const scenarios = await openScenarios(options)
  let sandboxes: Sandboxes | undefined
  try {
    sandboxes = await openSandboxes(options, { couriers, scenarios: scenarios.runner })
    // Before anybody can ask: the first answer is one of the scenario.
    if (options.scenario !== undefined) await scenarios.runner.begin(sandboxes.default, options.scenario)
    emulator = await serve(options, { sandboxes, scenarios })
    couriers.open()
    return emulator
  } catch (error) {
    await scenarios.close()
    await sandboxes?.close()
    throw error
  }
}

/** The scripts of the scenarios, and what runs them. */
interface Scenarios {
  readonly runner: ScenarioRunner
  close(): Promise<void>
}

async function openScenarios(options: HouseOptions): Promise<Scenarios> {
  const { scenarios: folder = usualFolder(), scenarioSource, settings, strict, logger = SILENT } = options
  const onNotice: OnScenarioNotice = ({ level, message, ...fields }) => logger[level](message, fields)
  if (scenarioSource !== undefined) {
    const runner = new ScenarioRunner({ source: scenarioSource, onNotice })
    return { runner, close: async () => runner.close() }
  }
  const { ScenarioLibrary } = await import('./doors/scenarios/library.ts')
  const library = new ScenarioLibrary(folder, {
    vocabulary: scenarioVocabulary(new Settings(settings, strict)),
    onNotice,
  })
  const runner = new ScenarioRunner({ source: library, onNotice })
  return {
    runner,
    close: async () => {
      runner.close()
      await library.close()
    },
  }
}

/** The folder of the project, or where it has none that of the shipped scenarios. */
function usualFolder(): string {
  return existsSync('scenarios') ? 'scenarios' : shippedFile('scenarios')
}

/** The default sandbox, and those that the disk holds. Their events and webhooks go on from where they stood. */
async function openSandboxes(options: HouseOptions, doors: SandboxDoors): Promise<Sandboxes> {
  const maker = new EmulatorSandboxes(options, doors)
  const sandboxes = new Sandboxes(maker)
  try {
    for (const name of [DEFAULT_SANDBOX, ...savedSandboxes(options)]) {
      sandboxes.add(await maker.open(name), options.ephemeral !== true)
    }
    return sandboxes
  } catch (error) {
    await sandboxes.close()
    throw error
  }
}

async function serve(
  options: HouseOptions,
  { sandboxes, scenarios }: { readonly sandboxes: Sandboxes; readonly scenarios: Scenarios },
): Promise<RunningEmulator> {
  const { host = '127.0.0.1', port = 4010 } = options
  let hosts = allowHosts({ port, bound: host, hosts: [] })
  const closing = new AbortController()
  // As many requests may wait as there are connections; Node would warn of more than ten.
  setMaxListeners(0, closing.signal)
  const api = new Api({
    operations: workspaceService.operations.values(),
    sandboxes,
    hosts: () => hosts,
    corsOrigins: options.corsOrigins ?? [],
    closing: closing.signal,
  })
  const around = { sandboxes, scenarios: scenarios.runner, closing: closing.signal, hosts: () => hosts }
  const desk = controlHost(options, around)
  let app: Promise<RequestListener> | undefined
  const loadApp = () => {
    app ??= expressApp(api, desk)
    return app
  }
  const server = createServer(api, loadApp)
  const address = await listen(server, { host, port })
  hosts = allowHosts({ port: address.port, bound: host, hosts: options.allowHosts ?? [] })
  const origin = `http://${reachable(host)}:${address.port}`
  return {
    url: origin,
    baseUrl: `${origin}/v1`,
    controlUrl: `${origin}/__emulator`,
    port: address.port,
    sandbox: sandboxes.default,
    sandboxes,
    control: controlWithoutHttp(desk),
    close: async () => {
      closing.abort()
      // Who is still being served after that is cut: the last checkpoint must not wait for a reader that never ends.
      const cut = later(GRACE, () => {
        options.logger?.warn(`Some requests in flight were cut: they took more than ${GRACE} ms to finish.`)
        void close(server, { graceful: false })
      })
      await close(server, { graceful: true })
      cut()
      await scenarios.close()
      await sandboxes.close()
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

function controlWithoutHttp(host: ControlHost): Transport {
  let loaded: Promise<Transport> | undefined
  return async (call) => {
    loaded ??= import('./doors/control/in-process.ts').then(({ inProcess }) => inProcess(host))
    return (await loaded)(call)
  }
}

/** How this machine reaches an address that is listened on. */
function reachable(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1'
  return host.includes(':') ? `[${host}]` : host
}

interface Serving {
  readonly sandboxes: Sandboxes
  readonly scenarios: ScenarioRunner
  readonly closing: AbortSignal
  readonly hosts: () => AllowedHosts
}

function controlHost(options: HouseOptions, { sandboxes, scenarios, closing, hosts }: Serving): ControlHost {
  return {
    service: workspaceService,
    version: packageVersion(),
    contract: { title: 'Agent Workspace Service', version: CONTRACT_VERSION },
    token: options.controlToken,
    sandboxes,
    scenarios,
    closing,
    guard: (rawHeaders) => guard(rawHeaders, hosts()),
    readJson,
    parseJson: parseBody,
    onSurprise: (error) => defect(options, error),
  }
}

function defect({ logger = SILENT }: HouseOptions, error: unknown): void {
  logger.error('The emulator has a defect.', { error })
}

/** Milliseconds that requests in flight have to finish when the emulator is closed. */
const GRACE = 1_000

function guard(rawHeaders: readonly string[], hosts: AllowedHosts): GuardVerdict | undefined {
  const host = checkHost(headerValues(rawHeaders, 'host'), hosts)
  if (!host.ok) return { ...host, code: host.status === 400 ? 'bad_request' : 'forbidden' }
  const origin = headerValues(rawHeaders, 'origin').find((each) => isCrossSiteOrigin(each, hosts))
  if (origin === undefined) return undefined
  const detail = `Pages of ${origin} may not use the control interface; only its own origin may.`
  return { status: 403, code: 'forbidden', detail }
}
