import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { type ErrorFormat, Refusal } from '../../core/errors.ts'
import type { Evidence } from '../../core/log/evidence.ts'
import type { RequestTiming } from '../../core/log/request-log.ts'
import type { AnyOperation } from '../../core/operation.ts'
import type { Call, CallBody } from '../../core/request/exchange.ts'
import { perform, performSoon, refusalOf, respondUnrouted, runWaiting } from '../../core/request/pipeline.ts'
import { type ApiResponse, quotaHeaders } from '../../core/request/response.ts'
import { unreadParameters } from '../../core/request/unread-query.ts'
import type { Sandbox } from '../../core/sandboxes/sandbox.ts'
import type { Sandboxes } from '../../core/sandboxes/sandboxes.ts'
import type { Service } from '../../core/service.ts'
import { elapsedTime } from '../../core/time/clock.ts'
import { RouteTable } from '../route-table.ts'
import {
  addressOf,
  chooseForApi,
  existingOrDefault,
  isForeignFetch,
  mountOf,
  openSandbox,
  originForm,
  originOfRequest,
  pathPrefixOf,
  redactName,
  splitTarget,
} from '../selection.ts'
import { announcesBody, discardBody, hasUnreadBody } from './body.ts'
import { evidenceOf } from './connections.ts'
import { corsCheckOf } from './cors.ts'
import { FAULT_HEADER } from './faults/header.ts'
import { acceptUnderFaults, RequestFaults } from './faults/request.ts'
import type { Waits } from './faults/timeout.ts'
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
import { matchOrStub, NO_QUERY, nearMisses, noRoute, parseQuery, removed } from './routes.ts'
import { createHttpServer, type RawResponse } from './server.ts'
import type { WireProblem } from './wire-problem.ts'

/** The version segment of the base URL. Specification: Versioning. */
const BASE = '/v1'

interface ApiOptions extends Waits {
  /** Its operations are another map after they have changed. */
  readonly service: Pick<Service, 'operations'>
  /** The sandboxes that requests choose between. */
  readonly sandboxes: Sandboxes
  readonly hosts: AllowedHosts
  /** Origins, in addition to the loopback ones, whose pages may read responses. */
  readonly corsOrigins: readonly string[]
  /** Called once for each query parameter of an operation that nothing reads, with a sentence about it. */
  onUnreadParameter(description: string): void
  /** The refusal of a path without a route, if there may be a reason that its client cannot see. */
  readonly unrouted?: () => Refusal | undefined
  /** Whether fault rules act on a new connection; absent: on each. */
  readonly actsOnConnection?: ((connection: string) => boolean) | undefined
}

/**
 * Creates the server. Requests of the API go from node:http directly to the pipeline: a way through Express would take several
 * times as long as the whole response. Other paths go to the Express application, which is loaded at its first request.
 */
export function createServer(api: Api, loadApp: () => Promise<RequestListener>): Server {
  return createHttpServer(
    (req, res) => {
      req.url = originForm(req.url ?? '', req.headers.host ?? '')
      if (api.owns(req.url)) void api.handle(req, res)
      else if (req.url.startsWith('/')) void loadApp().then((app) => app(req, res))
      else {
        // Express would respond to some of these targets with its own HTML page.
        const detail = `The request target "${req.url}" is neither a path nor a URL of the host that the Host header names.`
        const mitigation = 'Send a path that starts with a slash.'
        void api.refuse(req, res, new Refusal('route_not_found', { detail, mitigation }))
      }
    },
    {
      renderParserError: (problem, evidence, target) => api.responseTo(problem, evidence, target),
      refuse: (req, res, { code, status, detail }) =>
        void api.refuse(req, res, new Refusal(code, { detail, status })),
      acceptConnection: (socket, id) => api.acceptConnection(socket, id),
    },
  )
}

/** Maximum number of parameters that are reported: a client may invent any number of names. */
const MAX_UNREAD = 1_000

/** Serves the emulated API with node:http requests and responses, both in front of Express and inside it. */
export class Api {
  readonly #options: ApiOptions
  #table: { readonly of: Service['operations']; readonly routes: RouteTable<AnyOperation> } | undefined
  /** The connection of the latest request that reached its pipeline. */
  #latest: Socket | undefined
  /** The operations and parameters that were reported. */
  readonly #unread = new Set<string>()

  constructor(options: ApiOptions) {
    this.#options = options
  }

  get #routes(): RouteTable<AnyOperation> {
    const { operations } = this.#options.service
    if (this.#table?.of !== operations)
      this.#table = { of: operations, routes: new RouteTable(operations.values()) }
    return this.#table.routes
  }

  /** `METHOD /v1/path` of the operations closest to a path outside the API. @param path without the sandbox */
  nearest(method: string, path: string): readonly string[] {
    const match = this.#routes.match(method, path)
    const near = match.kind === 'route' ? [`${method} ${path}`] : nearMisses(match, path)
    return near.map((name) => name.replace(' /', ' /v1/'))
  }

  /** Whether the emulator is closed, or about to be. The server of a user that has mounted it may go on. */
  get isClosing(): boolean {
    return this.#options.closing.aborted
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
    const arrival: Arrival = { timing, evidence: evidenceOf(req, res) }
    try {
      const refusal = refuseHost(req, this.#options.hosts)
      if (refusal !== undefined) await this.refuse(req, res, refusal, arrival)
      else if (req.method === 'OPTIONS' && isPreflight(req.headers)) await this.#preflight(req, res, arrival)
      else await this.#serve(req, res, arrival)
    } catch (error) {
      this.#default.options.onDefect(error)
      res.destroy()
    } finally {
      timing.took = elapsedTime() - timing.began
      timing.onOver?.()
    }
  }

  /** Selects the sandbox and the route, reads the body, runs the pipeline, and writes the response. */
  async #serve(req: IncomingMessage, res: ServerResponse, arrival: Arrival): Promise<void> {
    const { sandboxes } = this.#options
    let response: ApiResponse
    try {
      const { path, query, mount, name, chosenBy, pathPrefix, authorization, origin } = addressOf(req)
      const sandbox = sandboxes.get(name) ?? (await this.#create(name, req))
      arrival.sandbox = sandbox
      arrival.chosenBy = chosenBy
      const method = req.method ?? ''
      const own = path.slice(pathPrefix.length + BASE.length)
      const match = matchOrStub(sandbox, method, own, this.#routes.match(method, own), this.#errorFormatOf)
      const faults = this.#faultsOf(req, res, sandbox, arrival)
      arrival.faults = faults
      arrival.armed = faults?.arm()
      if (match.kind !== 'route') {
        arrival.nearest = nearMisses(match, mount + path)
        const reason = match.kind === 'unknown' ? this.#options.unrouted?.() : undefined
        throw reason ?? noRoute(match, method, mount + path)
      }
      const headers = req.headers as Headers
      const head: Call = {
        operation: match.route,
        method,
        path: mount + path,
        pathPrefix: mount + pathPrefix,
        origin,
        chosenBy,
        params: match.params,
        query: query === '' ? NO_QUERY : parseQuery(query),
        headers: headers.authorization === authorization ? headers : { ...headers, authorization },
        body: NO_BODY,
        ...repeatedHeaders(req),
        ...this.#cors(req),
        armed: arrival.armed,
        timing: arrival.timing,
        evidence: arrival.evidence,
      }
      if (query !== '') this.#reportUnread(head, sandbox)
      const received = this.#receive(req, sandbox, head, arrival)
      const call = received instanceof Promise ? await received : received
      if (call === undefined) return
      if (call !== head && sandboxes.get(name) !== sandbox) {
        arrival.sandbox = this.#default
        arrival.chosenBy = 'default'
        throw removed(name)
      }
      // A fault may act on the commit of its request, which therefore has a write of its own. A client with one connection sends
      // nothing else in this turn.
      const isAlone = faults !== undefined || match.route.method === 'GET' || req.socket === this.#latest
      this.#latest = req.socket
      response = isAlone ? perform(sandbox, call) : await performSoon(sandbox, call)
    } catch (error) {
      if (arrival.sandbox === undefined) Object.assign(arrival, this.#present(req))
      response = this.#unrouted(req, arrival, refusalOf(arrival.sandbox ?? this.#default, error))
    }
    const rest = this.#write(req, res, response, arrival.faults)
    if (rest !== undefined) await rest
  }

  /** The faults that may act on a request. This check is all that other requests meet of faults, here and in `http/faults`. */
  #faultsOf(
    req: IncomingMessage,
    res: ServerResponse,
    sandbox: Sandbox,
    { evidence }: Arrival,
  ): RequestFaults | undefined {
    const isClean = sandbox.faults.isEmpty && req.headers[FAULT_HEADER] === undefined
    if (isClean) return undefined
    runWaiting(sandbox)
    sandbox.recording.begin()
    return new RequestFaults(req, res, evidence, sandbox, this.#options)
  }

  /**
   * Reads the body. Undefined when no response is to be sent: the client has left, or a fault has cut the exchange off. Not a
   * promise when there is nothing to wait for, which saves time.
   */
  #receive(
    req: IncomingMessage,
    sandbox: Sandbox,
    head: Call,
    { evidence, faults }: Arrival,
  ): Call | Promise<Call | undefined> {
    const readBody = (received?: (bytes: number) => boolean) =>
      readCallBody(req, head.operation, sandbox, evidence, received)
    if (faults !== undefined) return faults.receive(head, readBody)
    return announcesBody(req) ? readBody().then((body) => body && { ...head, body }) : head
  }

  /** Writes the response. Undefined when there was nothing to wait for: each awaited promise adds time to a request. */
  #write(
    req: IncomingMessage,
    res: ServerResponse,
    response: ApiResponse,
    faults: RequestFaults | undefined,
    extra: readonly HeaderPair[] = corsHeaders(this.#origin(req)),
  ): Promise<void> | undefined {
    const withBody = req.method !== 'HEAD'
    const write = () => render(res, response, extra, withBody)
    const send = faults === undefined ? write : () => faults.send(response, extra, withBody, write)
    return hasUnreadBody(req) ? discardBody(req).then(send) : send()
  }

  /** The error format of a path, known or not: that of the operations with the same first segment. Default `standard`. */
  readonly #errorFormatOf = (path: string): ErrorFormat =>
    this.#routes.relatedTo(path)?.errorFormat ?? 'standard'

  async #preflight(req: IncomingMessage, res: ServerResponse, arrival: Arrival): Promise<void> {
    const decision = this.#origin(req)
    // A refused page is told nothing, so the log is the only place where its developer can find the reason.
    const response =
      corsCheckOf(req, decision)?.refusal === undefined
        ? this.#allowed()
        : this.#unrouted(req, Object.assign(arrival, this.#present(req)))
    await this.#write(req, res, response, undefined, preflightHeaders(decision, req.headers))
  }

  #allowed(): ApiResponse {
    const date = ['Date', new Date(this.#default.clock.now).toUTCString()] as const
    const headers = [...quotaHeaders(this.#default.limits.untouched('')), date]
    return { status: 204, headers, text: undefined, lines: undefined }
  }

  /**
   * Refuses a request that no route serves, such as one with a foreign Host. It is logged in the chosen sandbox if that
   * exists, otherwise in the default one; no sandbox is created for it.
   */
  async refuse(
    req: IncomingMessage,
    res: ServerResponse,
    refusal: Refusal,
    arrival: Arrival = { evidence: evidenceOf(req, res) },
  ): Promise<void> {
    const { sandbox, chosenBy } = this.#present(req)
    Object.assign(arrival, { sandbox, chosenBy })
    const faults = this.#faultsOf(req, res, sandbox, arrival)
    await this.#write(req, res, this.#unrouted(req, arrival, refusal), faults)
  }

  #present(req: IncomingMessage): Required<Pick<Arrival, 'sandbox' | 'chosenBy'>> {
    const [sandbox, chosenBy] = existingOrDefault(this.#options.sandboxes, () =>
      chooseForApi(req.url ?? '', req),
    )
    return { sandbox, chosenBy }
  }

  #unrouted(req: IncomingMessage, arrival: Arrival, refusal?: Refusal): ApiResponse {
    const { sandbox = this.#default, chosenBy = 'default', faults: _, ...known } = arrival
    const target = req.url ?? ''
    const path = target.startsWith('/') ? splitTarget(target).path : target
    const pathPrefix = pathPrefixOf(path)
    const errorFormat = this.#errorFormatOf(path.slice(pathPrefix.length + BASE.length))
    const headers = redactName(req.headers) as Headers
    // A foreign Host must not appear in the URLs of the response.
    const own = refuseHost(req, this.#options.hosts) === undefined ? originOfRequest(req) : {}
    const mount = mountOf(req)
    const at = { path: mount + path, pathPrefix: mount + pathPrefix, ...own, ...this.#cors(req) }
    return respondUnrouted(
      sandbox,
      { method: req.method ?? '', chosenBy, ...at, errorFormat, headers, ...known },
      refusal,
    )
  }

  /** The response to bytes that are not a valid request. */
  responseTo({ code, detail, status }: WireProblem, evidence: Evidence, target: string): RawResponse {
    const { path } = splitTarget(target)
    const pathPrefix = pathPrefixOf(path)
    const errorFormat = this.#errorFormatOf(path.slice(pathPrefix.length + BASE.length))
    const { headers, text = '' } = respondUnrouted(
      this.#default,
      { method: '', path, pathPrefix, errorFormat, chosenBy: 'default', evidence },
      new Refusal(code, { detail, status }),
    )
    return { headers, body: text }
  }

  /** Applies the fault rules of the default sandbox to a new connection, before any byte of it is read. */
  acceptConnection(socket: Socket, id: string): void {
    const { faults, recording } = this.#default
    if (faults.isEmpty || this.#options.actsOnConnection?.(id) === false) return
    recording.begin()
    recording.add({ connection: id })
    acceptUnderFaults(socket, id, this.#default, this.#options)
  }

  #reportUnread({ operation, query }: Call, { settings }: Sandbox): void {
    for (const { name, description } of unreadParameters(operation, settings, query)) {
      const key = `${operation.name} ${name}`
      if (this.#unread.has(key) || this.#unread.size === MAX_UNREAD) continue
      this.#unread.add(key)
      this.#options.onUnreadParameter(description)
    }
  }

  #create(name: string, req: IncomingMessage): Promise<Sandbox> {
    const { origin, allowed } = this.#origin(req)
    const isForeign = !allowed && (origin !== undefined || isForeignFetch(req))
    return openSandbox(this.#options.sandboxes, name, { foreignPage: isForeign ? { origin } : undefined })
  }

  #cors(req: IncomingMessage): Pick<Call, 'cors'> | undefined {
    if (req.headers.origin === undefined && req.headers['sec-fetch-mode'] === undefined) return undefined
    const cors = corsCheckOf(req, this.#origin(req))
    return cors && { cors }
  }

  #origin(req: IncomingMessage): OriginDecision {
    const { origin } = req.headers
    return { origin, allowed: origin !== undefined && originAllowed(origin, this.#options.corsOrigins) }
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

/** What is known of a request, filled in while it goes on. */
interface Arrival {
  readonly timing?: RequestTiming
  readonly evidence: Evidence
  sandbox?: Sandbox
  chosenBy?: Call['chosenBy']
  faults?: RequestFaults | undefined
  /** The rules that its header names. */
  armed?: Call['armed']
  nearest?: readonly string[]
}

// Only Set-Cookie would be an array, and that is a header of responses.
type Headers = Readonly<Record<string, string | undefined>>

const NO_BODY: CallBody = { kind: 'none' }
