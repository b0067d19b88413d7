import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { type ErrorFormat, Refusal, refuse } from '../../core/errors.ts'
import type { Decision } from '../../core/faults/decision.ts'
import { FaultedRequest } from '../../core/faults/hooks.ts'
import type { RequestTiming } from '../../core/log/request-log.ts'
import type { AnyOperation } from '../../core/operation.ts'
import type { Call, CallBody, ChosenBy } from '../../core/request/exchange.ts'
import { perform, turnAway } from '../../core/request/pipeline.ts'
import { DEFAULT_LIMIT, noWindow } from '../../core/request/rate-limiter.ts'
import { type ApiResponse, quotaHeaders } from '../../core/request/response.ts'
import type { Sandbox } from '../../core/sandboxes/sandbox.ts'
import type { Sandboxes } from '../../core/sandboxes/sandboxes.ts'
import { elapsedTime } from '../../core/time/clock.ts'
import { RouteTable } from '../route-table.ts'
import {
  chooseForApi,
  isForeignFetch,
  openSandbox,
  originOfRequest,
  pathPrefixOf,
  presentSandbox,
  withoutBadName,
} from '../selection.ts'
import { passageOf, silence } from './connections.ts'
import { announcesBody, discardBody, hasUnreadBody } from './discard.ts'
import { faultsOfHeader } from './fault-header.ts'
import { stopsOf } from './faults/primitives.ts'
import type { ReadBody } from './faults/receive.ts'
import {
  type AllowedHosts,
  corsHeaders,
  type HeaderPair,
  isPreflight,
  type OriginDecision,
  originAllowed,
  preflightHeaders,
  refuseHost,
} from './guard.ts'
import { readCallBody } from './json-body.ts'
import { render } from './render.ts'
import { nearMisses, noRoute, parseQuery, removed, StubRoutes, splitTarget } from './routes.ts'
import { createHttpServer, type RawResponse } from './server.ts'
import type { WireProblem } from './wire-problem.ts'

/** The version segment of the base URL. Specification: Versioning. */
const BASE = '/v1'

interface ApiOptions {
  readonly operations: Iterable<AnyOperation>
  /** The sandboxes that requests choose between. */
  readonly sandboxes: Sandboxes
  readonly hosts: AllowedHosts
  /** Origins, in addition to the loopback ones, whose pages may read responses. */
  readonly corsOrigins: readonly string[]
  /** Aborted when the emulator closes: faults then no longer hold connections open. */
  readonly closing: AbortSignal
}

/**
 * Creates the server. Requests of the API go from node:http directly to the pipeline: a way through Express would take several
 * times as long as the whole response. Other paths go to the Express application, which is loaded at its first request.
 */
export function createServer(
  api: Api,
  loadApp: () => Promise<RequestListener>,
  onCrowded: (message: string) => void,
): Server {
  return createHttpServer(
    (req, res) => {
      req.url = originForm(req.url ?? '', req.headers.host ?? '')
      if (api.owns(req.url)) void api.handle(req, res)
      else if (req.url.startsWith('/')) void loadApp().then((app) => app(req, res))
      else void api.refuse(req, res, noPath(req.url))
    },
    {
      renderParserError: (problem) => api.responseTo(problem),
      refuse: (req, res, { code, status, detail }) =>
        void api.refuse(req, res, new Refusal(code, { detail, status })),
      accepted: (socket, id) => api.accept(socket, id),
      onCrowded,
    },
  )
}

// Express would respond to some of these targets with its own HTML page.
function noPath(target: string): Refusal {
  return new Refusal('route_not_found', {
    detail: `The request target "${target}" is neither a path nor a URL of the host that the Host header names.`,
    mitigation: 'Send a path that starts with a slash.',
  })
}

// Clients with a proxy send whole URLs, which every server must accept (RFC 9112, section 3.2.2). A URL whose host differs from
// the Host header stays unchanged, and is refused as a target that is not a path.
function originForm(target: string, host: string): string {
  const [, authority, path] = /^https?:\/\/([^/?#]*)(.*)$/i.exec(target) ?? []
  if (authority === undefined || path === undefined || authority.toLowerCase() !== host.toLowerCase())
    return target
  return path.startsWith('/') ? path : `/${path}`
}

/** Serves the emulated API with node:http requests and responses, both in front of Express and inside it. */
export class Api {
  readonly #options: ApiOptions
  readonly #routes: RouteTable<AnyOperation>
  readonly #stubs: StubRoutes

  constructor(options: ApiOptions) {
    this.#options = options
    this.#routes = new RouteTable(options.operations)
    this.#stubs = new StubRoutes((path) => this.#errorFormatOf(path))
  }

  /** `METHOD /v1/path` of the operations closest to a path outside the API. @param path without the sandbox */
  nearest(method: string, path: string): readonly string[] {
    const match = this.#routes.match(method, path)
    const near = match.kind === 'route' ? [`${method} ${path}`] : nearMisses(match, path)
    return near.map((name) => name.replace(' /', ' /v1/'))
  }

  /** Whether a request target is below the base URL, with or without a sandbox in front. */
  owns(target: string): boolean {
    const at = pathPrefixOf(target).length
    if (!target.startsWith(BASE, at)) return false
    const next = target.charAt(at + BASE.length)
    return next === '/' || next === '' || next === '?'
  }

  /** Serves one request. Never rejects; sends nothing to a client that has left. */
  async handle(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const timing: RequestTiming = { began: elapsedTime(), took: undefined, onOver: undefined }
    try {
      const refusal = refuseHost(req, this.#options.hosts)
      if (refusal !== undefined) await this.refuse(req, res, refusal, timing)
      else if (isPreflight(req.method, req.headers)) await this.#preflight(req, res)
      else {
        const response = await this.#respond(req, timing)
        const rest = response && this.#write(req, res, response)
        if (rest !== undefined) await rest
      }
    } catch (error) {
      this.#default.options.onDefect(error)
      res.destroy()
    } finally {
      timing.took = elapsedTime() - timing.began
      timing.onOver?.()
    }
  }

  /** Selects the sandbox and the route, reads the body, and runs the pipeline. Undefined when the client has left. */
  async #respond(req: IncomingMessage, timing: RequestTiming): Promise<ApiResponse | undefined> {
    const { sandboxes } = this.#options
    let place: Place | undefined
    try {
      const { path, query } = splitTarget(req.url ?? '')
      const { name, chosenBy, pathPrefix, authorization } = chooseForApi(path, req)
      const sandbox = sandboxes.get(name) ?? (await this.#create(name, req))
      place = { sandbox, chosenBy }
      const method = req.method ?? ''
      const own = path.slice(pathPrefix.length + BASE.length)
      const match = this.#stubs.match(sandbox, method, own, this.#routes.match(method, own))
      const headers = req.headers as Headers
      const armed = faultsOfHeader(sandbox, headers)
      if (armed instanceof Refusal) throw armed
      if (match.kind !== 'route') {
        place = { ...place, nearest: nearMisses(match, path), ...(armed && { armed }) }
        throw noRoute(match, method, path)
      }
      const received = this.#receive(req, sandbox, {
        operation: match.route,
        method,
        path,
        pathPrefix,
        ...originOfRequest(req),
        chosenBy,
        params: match.params,
        query: parseQuery(query),
        headers: headers.authorization === authorization ? headers : { ...headers, authorization },
        body: NO_BODY,
        timing,
        ...repeatedHeaders(req),
        ...(armed && { armed }),
      })
      const call = received instanceof Promise ? await received : received
      if (call === undefined) return undefined
      if (sandboxes.get(name) !== sandbox) {
        place = { sandbox: this.#default, chosenBy: 'default' }
        throw removed(name)
      }
      return perform(sandbox, call)
    } catch (error) {
      const at = place ?? this.#presentPlace(req)
      const refusal = error instanceof Refusal ? error : at.sandbox.reportDefect(error)
      return this.#refusalResponse(req, { ...at, timing }, refusal)
    }
  }

  /**
   * Reads the body, and applies the faults that act before and during that. Undefined when no response is to be sent: the client
   * has left, or a fault has cut the exchange off. Not a promise when there is nothing to wait for, which saves time.
   */
  #receive(req: IncomingMessage, sandbox: Sandbox, head: Call): Call | Promise<Call | undefined> {
    const readBody = (received?: (bytes: number) => boolean) =>
      readCallBody(req, head.operation, sandbox, head.headers.authorization, received)
    if (!sandbox.faults.isEmpty) return this.#receiveUnderFaults(req, sandbox, head, readBody)
    return announcesBody(req) ? readBody().then((body) => body && { ...head, body }) : head
  }

  async #receiveUnderFaults(req: IncomingMessage, sandbox: Sandbox, head: Call, readBody: ReadBody) {
    const connection = passageOf(req)
    const { RequestReceiver } = await loadReceiver()
    const receiver = new RequestReceiver(req, sandbox, this.#options.closing)
    return receiver.receive(connection === undefined ? head : { ...head, connection }, readBody)
  }

  /** Writes the response. Undefined when there was nothing to wait for: each awaited promise adds time to a request. */
  #write(
    req: IncomingMessage,
    res: ServerResponse,
    response: ApiResponse,
    extra: readonly HeaderPair[] = corsHeaders(this.#origin(req)),
  ): Promise<void> | undefined {
    const withBody = req.method !== 'HEAD'
    const wire = response.hooks instanceof FaultedRequest ? response.hooks.wire : undefined
    const write = () => render(res, response, extra, withBody)
    if (wire === undefined) return hasUnreadBody(req) ? discardBody(req).then(write) : write()
    return discardBody(req)
      .then(() => import('./faults/send.ts'))
      .then(({ sendFaulted }) => sendFaulted(req, res, response, wire, extra, withBody, this.#options))
  }

  /** The error format of a path, known or not: that of the operations with the same first segment. Default `standard`. */
  #errorFormatOf(path: string): ErrorFormat {
    return this.#routes.relatedTo(path)?.errorFormat ?? 'standard'
  }

  async #preflight(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const date = ['Date', new Date(this.#default.clock.now).toUTCString()] as const
    const headers = [...quotaHeaders(noWindow(DEFAULT_LIMIT, this.#default.limiterNow())), date]
    const response = { status: 204, headers, text: undefined, lines: undefined, durable: undefined }
    await this.#write(req, res, response, preflightHeaders(this.#origin(req), req.headers))
  }

  /**
   * Refuses a request that no route serves, such as one with a foreign Host. It is logged in the chosen sandbox if that
   * exists, otherwise in the default one; no sandbox is created for it.
   */
  async refuse(
    req: IncomingMessage,
    res: ServerResponse,
    refusal: Refusal,
    timing?: RequestTiming,
  ): Promise<void> {
    const place = { ...this.#presentPlace(req), ...(timing && { timing }) }
    await this.#write(req, res, this.#refusalResponse(req, place, refusal))
  }

  #presentPlace(req: IncomingMessage): Place {
    const [sandbox, chosenBy] = presentSandbox(this.#options.sandboxes, () =>
      chooseForApi(req.url ?? '', req),
    )
    return { sandbox, chosenBy }
  }

  #refusalResponse(req: IncomingMessage, { sandbox, ...known }: Place, refusal: Refusal): ApiResponse {
    const target = req.url ?? ''
    const path = target.startsWith('/') ? splitTarget(target).path : target
    const pathPrefix = pathPrefixOf(path)
    const errorFormat = this.#errorFormatOf(path.slice(pathPrefix.length + BASE.length))
    const headers = withoutBadName(req.headers) as Headers
    const connection = sandbox.faults.isEmpty ? undefined : passageOf(req)
    // A foreign Host must not appear in the URLs of the response.
    const own = refuseHost(req, this.#options.hosts) === undefined ? originOfRequest(req) : {}
    const at = { path, pathPrefix, ...own }
    const request = { method: req.method ?? '', ...at, errorFormat, headers, ...known }
    return turnAway(sandbox, connection === undefined ? request : { ...request, connection }, refusal)
  }

  /** The response to bytes that are not a valid request. */
  responseTo({ code, detail, status }: WireProblem): RawResponse {
    const nothing = { method: '', path: '', errorFormat: 'standard', chosenBy: 'default' } as const
    const { headers, text = '' } = turnAway(this.#default, nothing, new Refusal(code, { detail, status }))
    return { headers, body: text }
  }

  /** Applies the fault rules of the default sandbox to a new connection, before any byte of it is read. */
  accept(socket: Socket, id: string): void {
    const { faults } = this.#default
    if (faults.isEmpty) return
    const decision = this.#decideOn(id)
    if (decision === undefined || !stopsOf(decision.actions).some(({ at }) => at === 'accept')) return
    silence(socket)
    const { closing } = this.#options
    const signals = { released: faults.releasedFor(decision), closing }
    loadReceiver()
      .then(({ cutAccepted }) => cutAccepted(socket, decision, signals))
      .catch(this.#default.options.onDefect)
  }

  // No caller catches here: if counters cannot be written, the fault is skipped.
  #decideOn(id: string): Decision | undefined {
    const { faults, options } = this.#default
    try {
      return faults.decide('accept', { kind: 'connection', id })
    } catch (error) {
      if (!(error instanceof Refusal)) options.onDefect(error)
      return undefined
    }
  }

  // Any web page can send requests with a sandbox in the path: without this check it could fill the memory with sandboxes.
  #create(name: string, req: IncomingMessage): Promise<Sandbox> {
    const { origin, allowed } = this.#origin(req)
    if (!this.#options.sandboxes.has(name) && !allowed && (origin !== undefined || isForeignFetch(req))) {
      const who = origin ?? 'another site'
      const allow = origin === undefined ? 'C' : `Start the emulator with --cors-origin ${origin}, or c`
      refuse('forbidden', {
        detail: `There is no sandbox "${name}", and pages of ${who} may not create one.`,
        mitigation: `${allow}reate the sandbox first: POST /__emulator/sandboxes {"name": "${name}"}.`,
        status: 403,
      })
    }
    return openSandbox(this.#options.sandboxes, name)
  }

  #origin(req: IncomingMessage): OriginDecision {
    const { origin } = req.headers
    return { origin, allowed: originAllowed(origin, this.#options.corsOrigins) }
  }

  get #default(): Sandbox {
    return this.#options.sandboxes.default
  }
}

// node:http joins repeated headers with commas. Reading `headersDistinct` is slow, so look for a comma first.
function repeatedHeaders(req: IncomingMessage): Pick<Call, 'repeated'> {
  const name = 'idempotency-key'
  if (req.headers[name]?.includes(',') !== true) return {}
  return (req.headersDistinct[name]?.length ?? 0) > 1 ? { repeated: [name] } : {}
}

let receiver: Promise<typeof import('./faults/receive.ts')> | undefined

// Loaded with the first fault. The promise is kept, because another `import()` of a loaded module takes longer than a request.
function loadReceiver() {
  receiver ??= import('./faults/receive.ts')
  return receiver
}

/** The sandbox in which a request is refused, and the facts known by then. */
interface Place {
  readonly sandbox: Sandbox
  readonly chosenBy: ChosenBy
  readonly nearest?: readonly string[]
  readonly armed?: readonly string[]
  readonly timing?: RequestTiming
}

// Only Set-Cookie would be an array, and that is a header of responses.
type Headers = Readonly<Record<string, string | undefined>>

const NO_BODY: CallBody = { kind: 'none' }
