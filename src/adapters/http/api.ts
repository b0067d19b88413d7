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
import { announcesBody, discardBody } from './discard.ts'
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

/** Where the version segment of the base URL stands. Specification: Versioning. */
const BASE = '/v1'

interface ApiOptions {
  readonly operations: Iterable<AnyOperation>
  /** The sandboxes that requests choose between. */
  readonly sandboxes: Sandboxes
  readonly hosts: AllowedHosts
  /** Origins beyond the loopback ones whose pages may read responses. */
  readonly corsOrigins: readonly string[]
  /** Aborted when the emulator closes: faults then hold no connection open any more. */
  readonly closing: AbortSignal
}

/**
 * The server. Requests of the API go from node:http to the pipeline: Express would pass them on unchanged and cost several
 * times the time of the whole response. All others go to the Express application, which is loaded when it is first needed.
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

// Express would respond to some of these by itself, with a page of HTML.
function noPath(target: string): Refusal {
  return new Refusal('route_not_found', {
    detail: `The request target "${target}" is neither a path nor a URL of the host that the Host header names.`,
    mitigation: 'Send a path that starts with a slash.',
  })
}

// Clients with a proxy send whole URLs, which every server has to accept (RFC 9112, section 3.2.2). A URL of another host
// than the Host header is left as it is: nothing is served there.
function originForm(target: string, host: string): string {
  const [, authority, path] = /^https?:\/\/([^/?#]*)(.*)$/i.exec(target) ?? []
  if (authority === undefined || path === undefined || authority.toLowerCase() !== host.toLowerCase())
    return target
  return path.startsWith('/') ? path : `/${path}`
}

/** The emulated API on node:http requests and responses, in front of Express as well as inside it. */
export class Api {
  readonly #options: ApiOptions
  readonly #routes: RouteTable<AnyOperation>
  readonly #stubs: StubRoutes

  constructor(options: ApiOptions) {
    this.#options = options
    this.#routes = new RouteTable(options.operations)
    this.#stubs = new StubRoutes((path) => this.#errorFormatOf(path))
  }

  /** `METHOD /v1/path` of the operations that a path outside the API comes nearest to. @param path without the sandbox */
  nearest(method: string, path: string): readonly string[] {
    const match = this.#routes.match(method, path)
    const near = match.kind === 'route' ? [`${method} ${path}`] : nearMisses(match, path)
    return near.map((name) => name.replace(' /', ' /v1/'))
  }

  /** Whether a request target is below the base URL, also inside of a sandbox. */
  owns(target: string): boolean {
    const at = pathPrefixOf(target).length
    if (!target.startsWith(BASE, at)) return false
    const next = target.charAt(at + BASE.length)
    return next === '/' || next === '' || next === '?'
  }

  /** Serves one request. Never rejects; a client that has left gets nothing. */
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
      const sandbox = sandboxes.get(name) ?? (await this.#make(name, req))
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
   * Reads the body, with what faults do before and while it comes. Undefined when there is nothing to respond to; no promise
   * where there is nothing to wait for.
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

  /** Undefined where nothing had to be waited for: each turn of a promise is time of a request. */
  #write(
    req: IncomingMessage,
    res: ServerResponse,
    response: ApiResponse,
    extra: readonly HeaderPair[] = corsHeaders(this.#origin(req)),
  ): Promise<void> | undefined {
    const withBody = req.method !== 'HEAD'
    const wire = response.hooks instanceof FaultedRequest ? response.hooks.wire : undefined
    const write = () => render(res, response, extra, withBody)
    if (wire === undefined) return announcesBody(req) ? discardBody(req).then(write) : write()
    return discardBody(req)
      .then(() => import('./faults/send.ts'))
      .then(({ sendFaulted }) => sendFaulted(req, res, response, wire, extra, withBody, this.#options))
  }

  /** The form of errors that belongs to a path, known or not: that of the operations that share its first segment. */
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
   * exists, otherwise in the default one; no sandbox is made for it.
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
    // A foreign Host is no address that leads here.
    const own = refuseHost(req, this.#options.hosts) === undefined ? originOfRequest(req) : {}
    const at = { path, pathPrefix, ...own }
    const request = { method: req.method ?? '', ...at, errorFormat, headers, ...known }
    return turnAway(sandbox, connection === undefined ? request : { ...request, connection }, refusal)
  }

  /** The response to bytes that never became a request. */
  responseTo({ code, detail, status }: WireProblem): RawResponse {
    const nothing = { method: '', path: '', errorFormat: 'standard', chosenBy: 'default' } as const
    const { headers, text = '' } = turnAway(this.#default, nothing, new Refusal(code, { detail, status }))
    return { headers, body: text }
  }

  /** Lets the fault rules of the default sandbox decide about a new connection, before a byte of it is read. */
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

  // Any page can send a request with a sandbox in its path, and so could fill this process with sandboxes.
  #make(name: string, req: IncomingMessage): Promise<Sandbox> {
    const { origin, allowed } = this.#origin(req)
    if (!this.#options.sandboxes.has(name) && !allowed && (origin !== undefined || isForeignFetch(req))) {
      const who = origin ?? 'another site'
      const allow = origin === undefined ? 'M' : `Start the emulator with --cors-origin ${origin}, or m`
      refuse('forbidden', {
        detail: `There is no sandbox "${name}", and pages of ${who} may not make one.`,
        mitigation: `${allow}ake the sandbox first: POST /__emulator/sandboxes {"name": "${name}"}.`,
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

// node:http joins the lines of a header with commas. Asking for the lines costs more than looking for one.
function repeatedHeaders(req: IncomingMessage): Pick<Call, 'repeated'> {
  const name = 'idempotency-key'
  if (req.headers[name]?.includes(',') !== true) return {}
  return (req.headersDistinct[name]?.length ?? 0) > 1 ? { repeated: [name] } : {}
}

let receiver: Promise<typeof import('./faults/receive.ts')> | undefined

// Loaded with the first fault; and asking the loader again for what it has costs more than a request.
function loadReceiver() {
  receiver ??= import('./faults/receive.ts')
  return receiver
}

/** Where a request is refused. */
interface Place {
  readonly sandbox: Sandbox
  readonly chosenBy: ChosenBy
  readonly nearest?: readonly string[]
  readonly armed?: readonly string[]
  readonly timing?: RequestTiming
}

// All but Set-Cookie, which is for responses, are single texts.
type Headers = Readonly<Record<string, string | undefined>>

const NO_BODY: CallBody = { kind: 'none' }
