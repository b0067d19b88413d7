import { setMaxListeners } from 'node:events'
import type { RequestListener } from 'node:http'
import { transferableAbortController } from 'node:util'
import type { Express } from 'express'
import { CONTRACT, packageVersion, shippedFile } from '../adapters/package.ts'
import { ScenarioRunner } from '../adapters/scenarios/runner.ts'
import type { Lock } from '../adapters/storage/lock.ts'
import { thisProcess } from '../adapters/storage/process-identity.ts'
import { webhookSenders } from '../adapters/webhooks/senders.ts'
import type { ControlCall } from '../control-client/transport.ts'
import { Settings } from '../core/assumptions.ts'
import { Refusal, refuseInvalid } from '../core/errors.ts'
import { FixturesError } from '../core/fixtures-error.ts'
import { loaded } from '../core/load.ts'
import { once } from '../core/once.ts'
import type { BuildStart } from '../core/record/start.ts'
import { refusalOf } from '../core/request/pipeline.ts'
import type { Sandbox } from '../core/sandboxes/sandbox.ts'
import { Sandboxes } from '../core/sandboxes/sandboxes.ts'
import { documentOf } from '../core/sandboxes/snapshots.ts'
import type { Service } from '../core/service.ts'
import { hostTime } from '../core/time/clock.ts'
import { formatInstant } from '../core/time/instant.ts'
import { later } from '../core/time/realtime.ts'
import type { EndpointBook } from '../endpoints/book.ts'
import type { Coverage } from '../server/control/coverage/coverage.ts'
import type { ControlHost } from '../server/control/host.ts'
import { Api, createServer } from '../server/http/api.ts'
import type { FetchHandler } from '../server/http/fetch.ts'
import {
  allowHosts,
  type GuardedRequest,
  refuseHost,
  refusePage,
  refuseRemote,
} from '../server/http/guard.ts'
import { applicationOf, routerOf } from '../server/http/mount.ts'
import { close, listen } from '../server/http/server.ts'
import { lockData, noticesTo, savedSandboxes } from './data-folder.ts'
import { openEndpoints } from './endpoints.ts'
import { openWhenDue } from './open-when-due.ts'
import { type InternalOptions, SILENT, startOptions } from './options.ts'
import { WorkspaceSandboxes } from './sandbox-maker.ts'
import { scenarioVocabulary } from './scenario-checks.ts'
import { serviceFor } from './service.ts'

export { lateErrorLine } from '../adapters/scenarios/problem.ts'
export { ListenError } from '../server/http/server.ts'
export type { InternalOptions, Logger } from './options.ts'
export { type CheckedScenario, checkScenarios } from './scenario-checks.ts'

/** A running emulator, for code of this package. */
export type RunningEmulator = Readonly<Awaited<ReturnType<typeof serve>>>

/** Starts an emulator and resolves when it responds. Throws when fixtures or settings are wrong, or the port or the state file is taken. */
export function openEmulator(options: InternalOptions = {}): Promise<RunningEmulator> {
  return openEmulatorOf(serviceFor(options), options)
}

function unlessMisfit(error: unknown): undefined {
  if (!(error instanceof FixturesError)) throw error
}

/** As {@link openEmulator}, for any service. */
export async function openEmulatorOf(service: Service, options: InternalOptions): Promise<RunningEmulator> {
  refuseInvalid(service.assumptions.check(options.settings ?? {}))
  let emulator: RunningEmulator | undefined
  const replayPort = options.replay && Number(new URL(options.replay.origin).port)
  const senders = webhookSenders({
    targets: options.allowWebhooks ?? [],
    forbiddenPorts: () => (emulator === undefined ? [] : [replayPort ?? emulator.port]),
    send: options.replay?.send,
  })
  const endpoints = await openEndpoints(service, options)
  const scenarios = await openScenarios(options, endpoints.service)
  let [sandboxes, lock]: [Sandboxes?, Lock?] = []
  try {
    lock = await lockData(options)
    const adapters = { senders, scenarios: scenarios.runner, service: endpoints.service }
    const maker = new WorkspaceSandboxes(options, adapters, lock)
    const { maxOpenSandboxes: maxOpen } = options
    sandboxes = new Sandboxes(maker, { strict: options.sandboxes === 'strict', maxOpen })
    // Other saved sandboxes are opened on first use; only their names are read here.
    sandboxes.add(await maker.openDefault(), options.ephemeral !== true)
    sandboxes.addSaved(savedSandboxes(options))
    const coverage = coverageIn(sandboxes)
    if (options.countCoverage === true) await coverage.begin()
    endpoints.onReplaced = () => coverage.counted()?.refresh()
    // Before the server listens, so that the scenario applies to the first request, too.
    if (options.scenario !== undefined) await scenarios.runner.begin(sandboxes.default, options.scenario)
    emulator = await serve(options, { sandboxes, scenarios, endpoints, maker, lock, coverage })
    senders.open()
    return emulator
  } catch (error) {
    await scenarios.close()
    await endpoints.close()
    await sandboxes?.close()
    lock?.release()
    throw error
  }
}

/** The runner of scenarios; `close` also closes the sources of their scripts. */
async function openScenarios(options: InternalOptions, service: Service) {
  const { scenarios: folder = startOptions.scenarios.default, scenarioSource, settings, strict } = options
  const { returned } = options.replay ?? {}
  const onNotice = noticesTo(options)
  if (scenarioSource !== undefined) {
    const runner = new ScenarioRunner({ source: scenarioSource, onNotice, returned })
    return { runner, textsOf: async () => ({}), close: async () => runner.close() }
  }
  const [{ ScenarioLibrary }, { ScenariosWithBuiltIn }] = await Promise.all([
    import('../adapters/scenarios/library.ts'),
    import('../adapters/scenarios/built-in.ts'),
  ])
  const vocabulary = scenarioVocabulary(new Settings(settings, strict), service)
  const library = new ScenarioLibrary(folder, { vocabulary, onNotice })
  const source = new ScenariosWithBuiltIn(library, shippedFile('scenarios'), vocabulary)
  const runner = new ScenarioRunner({ source, onNotice, returned })
  return {
    runner,
    /** The scripts of scenarios, for a recording. */
    textsOf: async (names: ReadonlySet<string>) => (names.size === 0 ? {} : library.textsOf(names)),
    close: async () => {
      runner.close()
      await library.close()
    },
  }
}

/** The coverage of the contract, which nothing counts before `begin`. */
function coverageIn(sandboxes: Sandboxes) {
  let begun: Coverage | undefined
  const begin = once(async () => {
    const counted = await import('../server/control/coverage/coverage.ts')
    const coverage = new counted.Coverage(sandboxes.default.service)
    for (const { sandbox } of sandboxes.list()) coverage.watch(sandbox)
    sandboxes.onMade((sandbox) => coverage.watch(sandbox))
    begun = coverage
    return coverage
  })
  return {
    begin,
    counted: () => begun,
    /** Begins with what the logs still have, since somebody looks. */
    beginForPage: once(async () => {
      if (begun !== undefined) return
      const coverage = await begin()
      for (const { sandbox } of sandboxes.list()) coverage.addPast(sandbox)
    }),
  }
}

interface Parts {
  readonly sandboxes: Sandboxes
  readonly scenarios: Awaited<ReturnType<typeof openScenarios>>
  readonly endpoints: EndpointBook
  readonly maker: WorkspaceSandboxes
  readonly lock: Lock | undefined
  readonly coverage: ReturnType<typeof coverageIn>
}

async function serve(
  options: InternalOptions,
  { sandboxes, scenarios, endpoints, maker, lock, coverage }: Parts,
) {
  const { host = startOptions.host.default, port = startOptions.port.default } = options
  const hosts = allowHosts(host, options.allowHosts)
  // Node's own, not the one of a page that a test runner imitates: `setMaxListeners` accepts no other.
  const closing = transferableAbortController()
  // Every waiting request adds a listener; Node would warn about more than ten.
  setMaxListeners(0, closing.signal)
  const api = new Api({
    service: endpoints.service,
    unrouted: () => endpoints.unrouted(),
    sandboxes,
    hosts,
    corsOrigins: options.corsOrigins ?? [],
    onUnreadParameter: (description) => options.logger?.warn(description, { event: 'unread_parameter' }),
    closing: closing.signal,
    later: options.replay?.later,
    actsOnConnection: options.replay?.actsOnConnection,
  })
  const pages = { origins: options.controlOrigins ?? [], onRefused: refusedPages(options.logger) }
  const build: BuildStart = async ({ fixtures, seed, at }) => {
    const state = await maker.start({ fixtures, seed, clock: at, settings: {} }).catch(unlessMisfit)
    return state && documentOf(state, endpoints.service, '')
  }
  const context: ControlHost = {
    service: sandboxes.default.service,
    version: packageVersion(),
    startedAt: formatInstant(hostTime()),
    contract: CONTRACT,
    token: options.controlToken,
    sandboxes,
    scenarios: scenarios.runner,
    endpoints,
    coverage: () => coverage.counted()?.points(),
    process: thisProcess(),
    lockLost: () => lock?.lost,
    closing: closing.signal,
    hosts,
    pages,
    recorded: {
      emulator: {
        version: packageVersion(),
        origin: '',
        allowHosts: [...(options.allowHosts ?? [])],
        corsOrigins: [...(options.corsOrigins ?? [])],
        allowWebhooks: [...(options.allowWebhooks ?? [])],
      },
      scenarios: scenarios.textsOf,
      endpoints: endpoints.digests,
      starting: { fixtures: options.fixtures === 'large' ? 'large' : 'demo', build },
    },
    shutdown: options.onShutdown,
    onDefect: (error) => options.logger?.error('The emulator has a defect.', { error }),
  }
  const express = once(() => expressApp(api, context, coverage.beginForPage))
  let said: string | undefined
  const problem = (error: Error): void => {
    if (error.message !== said) options.logger?.error(lineOf(error), { event: 'machine_problem' })
    said = error.message
  }
  const loadApp = () =>
    express().catch((error: unknown): RequestListener => {
      const refusal = refusalOf(sandboxes.default, error)
      problem(refusal)
      return (req, res) => void api.refuse(req, res, refusal)
    })
  const app = once(() => applicationOf(loadApp))
  const server = createServer(api, loadApp)
  const control = once(async () =>
    (await loaded(import('../control-client/in-process.ts'))).inProcess(context),
  )
  const fetchFrom = once(async () => (await loaded(import('../server/http/fetch.ts'))).fetchFrom(server))
  const address = options.listen === false ? undefined : await listen(server, { host, port })
  // Without a listener, a connection that cannot be accepted would end the process.
  server.on('error', (error) => problem(error))
  const stopOpening = openWhenDue({
    sandboxes,
    wakeTime: (name) => maker.wakeTime(name),
    onProblem: (name, error) => {
      if (!(error instanceof Refusal)) return context.onDefect(error)
      sandboxes.cannotOpen(name, error.message)
      options.logger?.error(lineOf(error), { event: 'sandbox_broken' })
    },
    later,
    host: options.hostTime ?? hostTime,
  })
  const origin = address === undefined ? 'http://localhost' : `http://${reachable(host)}:${address.port}`
  maker.origin = options.replay?.origin ?? origin
  return {
    /** Origin, without a slash at the end. */
    url: origin,
    /** Ends in `/v1`. */
    baseUrl: `${origin}/v1`,
    controlUrl: `${origin}/__emulator`,
    /** 0 if nothing listens. */
    port: address?.port ?? 0,
    /** The default sandbox. */
    sandbox: sandboxes.default,
    sandboxes,
    /** The API keys of the default sandbox that its fixtures contain in plain text. */
    plainKeys: () => maker.plainKeys(sandboxes.default),
    /** The control interface without HTTP; its code is loaded by the first call. */
    control: async (call: ControlCall) => (await control())(call),
    /** Sends a request to the server without a network; its code is loaded by the first call. */
    fetch: async (...given: Parameters<FetchHandler>) => (await fetchFrom())(...given),
    /** The recording of one of its sandboxes, also of one that was removed. */
    record: async (sandbox: Sandbox) => {
      const { bundleOf } = await loaded(import('../core/record/bundle.ts'))
      const { emulator, ...facts } = context.recorded
      return bundleOf(sandbox, { ...facts, emulator: { ...emulator, origin } })
    },
    /** The starting data of a recording. */
    build,
    /** Opens a connection inside the process under the id of a recorded one. */
    connect: async (id: string) => {
      const { connectAgain } = await loaded(import('../server/http/fetch.ts'))
      return connectAgain(server, maker.origin ?? origin, id)
    },
    /** An Express application with everything that the port serves. Express is loaded when it is first read. */
    get app() {
      return app()
    },
    /** An Express router with the same, for a path of another application. */
    router: () => routerOf(loadApp),
    /** Lets requests in flight finish, saves, and stops listening. */
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
      await endpoints.close()
      await sandboxes.close()
      // The lock is released last: until then no other process may touch the files.
      lock?.release()
    },
  }
}

// Express and the control interface are two thirds of the code, and no request of the API needs them.
// Dashboard and consent pages are closed to all pages of other origins.
async function expressApp(api: Api, host: ControlHost, onPage: () => Promise<void>): Promise<Express> {
  const guard = (req: GuardedRequest) => refusePage(req, host.hosts)
  const [{ createApp }, { controlRouter }, { consentPages }, { dashboardPages }] = await loaded(
    Promise.all([
      import('../server/http/app.ts'),
      import('../server/control/router.ts'),
      import('../server/consent/pages.ts'),
      import('../server/dashboard.ts'),
    ]),
  )
  const dashboard = dashboardPages({
    folder: shippedFile('dist', 'dashboard'),
    guard: (req) => guard(req) ?? refuseRemote(req, host.token),
    refuse: (req, res, refusal) => void api.refuse(req, res, refusal),
    onPage,
  })
  return createApp(api, {
    control: controlRouter(host),
    consent: consentPages({ ...host, guard }),
    dashboard,
    refusal: (req) =>
      api.owns(req.url) ? refuseHost(req, host.hosts) : refusePage(req, host.hosts, host.pages),
  })
}

/** Logs refused pages: once for all requests that a page repeats, and again when another page has been refused since. */
function refusedPages(logger = SILENT): (origin: string, refusal: Refusal) => void {
  let last: string | undefined
  return (origin, { message, options }) => {
    if (origin !== last) logger.warn(`${message} ${options.mitigation}`, { event: 'page_refused', origin })
    last = origin
  }
}

/** The host under which this machine reaches a server that listens on `host`. */
function reachable(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1'
  return host.includes(':') ? `[${host}]` : host
}

function lineOf(error: Error): string {
  const fix = error instanceof Refusal ? (error.options.mitigation ?? '') : ''
  return `${error.message} ${fix}`.trimEnd()
}

/** Milliseconds that requests in flight have to finish when the emulator is closed. */
const GRACE = 1_000
