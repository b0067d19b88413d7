import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Refusal, refuse } from '../../kernel/errors.ts'
import type { Decision } from '../../kernel/faults/decision.ts'
import { stopsOf } from '../../kernel/faults/stops.ts'
import type { AnyOperation } from '../../kernel/operation.ts'
import { type Answer, quotaHeaders, type Wire } from '../../kernel/request/answer.ts'
import type { Call, CallBody, ChosenBy } from '../../kernel/request/exchange.ts'
import { turnAway } from '../../kernel/request/perform.ts'
import { DEFAULT_LIMIT, noWindow } from '../../kernel/request/rate-limiter.ts'
import type { Sandbox } from '../../kernel/worlds/sandbox.ts'
import type { Sandboxes } from '../../kernel/worlds/sandboxes.ts'
import {
  chooseForApi,
  isForeignFetch,
  openSandbox,
  pathPrefixOf,
  presentSandbox,
  type Selection,
  withoutBadName,
} from '../selection.ts'
import { passageOf, silence } from './connections.ts'
import { answerPreflight, corsHeaders, isPreflight } from './cors.ts'
import { discardBody } from './discard.ts'
import { faultsOfHeader } from './fault-header.ts'
import { type AllowedHosts, checkHost, originAllowed } from './guard.ts'
import { type HeaderPair, headerValues } from './headers.ts'
import { nearMisses, noRoute, removed } from './no-route.ts'
import { render } from './render.ts'
import { parseQuery, readCallBody, splitTarget, type Target } from './request.ts'
import { RouteTable } from './routes.ts'
import { StubRoutes } from './stub-routes.ts'
import type { WireProblem } from './wire-problem.ts'

/** Where the version segment of the base URL stands. Specification: Versioning. */
const BASE = '/v1'

/** What the API needs to know of the world around it. */
export interface ApiOptions {
  readonly operations: Iterable<AnyOperation>
  /** The worlds that requests choose between. */
  readonly sandboxes: Sandboxes
  /** Known once the server listens. */
  readonly hosts: () => AllowedHosts
  /** Origins beyond the loopback ones whose pages may read answers. */
  readonly corsOrigins: readonly string[]
  /** Aborted when the emulator closes: nothing is held open on behalf of a fault any more. */
  readonly closing: AbortSignal
}

/** The emulated API on plain requests and responses: it works in front of Express as well as inside it. */
export class Api {
  readonly #options: ApiOptions
  readonly #routes: RouteTable
  readonly #stubs: StubRoutes

  constructor(options: ApiOptions) {
    this.#options = options
    this.#routes = new RouteTable(options.operations)
    this.#stubs = new StubRoutes((path) => this.#routes.dialectOf(path))
  }

  /** True for a path below the base URL, that of a sandbox included; everything else is somebody else's. */
  owns(target: string): boolean {
    const at = pathPrefixOf(target).length
    if (!target.startsWith(BASE, at)) return false
    const next = target.charAt(at + BASE.length)
    return next === '/' || next === '' || next === '?'
  }

  /** Lets the rules of the default sandbox decide about a new connection, of which no byte has been read. */
  accept(socket: Socket, id: string): void {
    const { faults } = this.#default
    if (faults.isEmpty) return
    const decision = this.#decidedOn(id)
    if (decision === undefined || !stopsOf(decision.actions).some(({ at }) => at === 'accept')) return
    silence(socket)
    const { closing } = this.#options
    const signals = { released: faults.releasedFor(decision), closing }
    loadWire()
      .then(({ cutAccepted }) => cutAccepted(socket, decision, signals))
      .catch(this.#default.options.onSurprise)
  }

  // Nobody above a new connection catches anything: what cannot be counted is not done to it.
  #decidedOn(id: string): Decision | undefined {
    const { faults, options } = this.#default
    try {
      return faults.decide('accept', { kind: 'connection', id })
    } catch (error) {
      if (!(error instanceof Refusal)) options.onSurprise(error)
      return undefined
    }
  }

  /** Answers one request. Never rejects; a client that went away gets nothing. */
  async answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    try {
      await this.#answer(req, res)
    } catch (error) {
      this.#default.options.onSurprise(error)
      res.destroy()
    }
  }

  /**
   * Answers what is not the API's and nobody else's: an unknown path outside the base URL, a foreign Host. It is logged
   * in the sandbox that was chosen if that is there, otherwise in the default one; none is made for it.
   */
  turnAway(req: IncomingMessage, res: ServerResponse, refusal: Refusal): Promise<void> {
    const choice = () => chooseForApi(req.url ?? '', req)
    const [sandbox, chosenBy] = presentSandbox(this.#options.sandboxes, choice)
    return this.#turnAway(req, res, refusal, { sandbox, chosenBy })
  }

  /** The answer to what never became a request. */
  wireAnswer(problem: WireProblem): Answer {
    const { code, detail, status } = problem
    const refusal = new Refusal(code, { detail, status })
    const nothing = { method: '', path: '', dialect: 'standard', chosenBy: 'default' } as const
    return turnAway(this.#default, nothing, refusal)
  }

  async #answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const host = checkHost(headerValues(req.rawHeaders, 'host'), this.#options.hosts())
    if (!host.ok) {
      const code = host.status === 400 ? 'bad_request' : 'forbidden'
      return this.turnAway(req, res, new Refusal(code, { detail: host.detail, status: host.status }))
    }
    if (isPreflight(req.method, req.headers)) {
      const { status, headers } = answerPreflight(this.#origin(req), req.headers)
      const quota = quotaHeaders(noWindow(DEFAULT_LIMIT, this.#default.limiterNow()))
      return this.#send(req, res, { status, headers: quota, ...NO_CONTENT }, headers)
    }
    const target = splitTarget(req.url ?? '')
    if (target === undefined) {
      const detail = 'The request target must be a path that starts with a slash.'
      return this.turnAway(req, res, new Refusal('bad_request', { detail }))
    }
    let selection: Selection
    let sandbox: Sandbox
    try {
      selection = chooseForApi(target.path, req)
      sandbox = this.#options.sandboxes.get(selection.name) ?? (await this.#make(selection.name, req))
    } catch (error) {
      const refusal = error instanceof Refusal ? error : this.#default.surprised(error)
      return this.#turnAway(req, res, refusal, { sandbox: this.#default, chosenBy: 'default' })
    }
    return this.#perform(req, res, target, selection, sandbox)
  }

  async #perform(
    req: IncomingMessage,
    res: ServerResponse,
    { path, query }: Target,
    { name, chosenBy, pathPrefix, authorization }: Selection,
    sandbox: Sandbox,
  ): Promise<void> {
    const method = req.method ?? ''
    const own = path.slice(pathPrefix.length + BASE.length)
    const match = this.#stubs.match(sandbox, method, own, this.#routes.match(method, own))
    const headers = req.headers as Headers
    const armed = faultsOfHeader(sandbox, headers)
    if (armed instanceof Refusal) return this.#turnAway(req, res, armed, { sandbox, chosenBy })
    if (match.kind !== 'operation') {
      const place = { sandbox, chosenBy, nearest: nearMisses(match, path), ...(armed && { armed }) }
      return this.#turnAway(req, res, noRoute(match, method, path), place)
    }
    const parsedQuery = parseQuery(query)
    const callWith = (body: CallBody): Call => ({
      operation: match.operation,
      method,
      path,
      pathPrefix,
      chosenBy,
      params: match.params,
      query: parsedQuery,
      headers: headers.authorization === authorization ? headers : { ...headers, authorization },
      body,
      ...(armed && { armed }),
    })
    const readBody = (received?: (bytes: number) => boolean) =>
      readCallBody(req, match.operation, sandbox, authorization, received)
    const call = !sandbox.faults.isEmpty
      ? await this.#receive(req, sandbox, callWith(NO_BODY), readBody)
      : await readBody().then((body) => body && callWith(body))
    if (call instanceof Refusal) return this.#turnAway(req, res, call, { sandbox, chosenBy })
    if (call === undefined) return
    if (this.#options.sandboxes.get(name) !== sandbox) {
      return this.#turnAway(req, res, removed(name), { sandbox: this.#default, chosenBy: 'default' })
    }
    return this.#send(req, res, sandbox.perform(call))
  }

  /**
   * Takes a request that faults may be about up to its handler; undefined when there is nothing to answer, a refusal when
   * its matches cannot be counted.
   */
  async #receive(
    req: IncomingMessage,
    sandbox: Sandbox,
    head: Call,
    readBody: (received: (bytes: number) => boolean) => Promise<CallBody | undefined>,
  ): Promise<Call | Refusal | undefined> {
    const connection = passageOf(req)
    const { Reception } = await loadWire()
    const reception = new Reception(req, sandbox, this.#options.closing)
    try {
      return await reception.receive(connection === undefined ? head : { ...head, connection }, readBody)
    } catch (error) {
      return error instanceof Refusal ? error : sandbox.surprised(error)
    }
  }

  // Any page can send a request with a sandbox in its path, and so could fill this process with worlds.
  #make(name: string, req: IncomingMessage): Promise<Sandbox> {
    const { origin, allowed } = this.#origin(req)
    if (!allowed && (origin !== undefined || isForeignFetch(req.headers))) {
      const who = origin ?? 'another site'
      const allow = origin === undefined ? '' : `Start the emulator with --cors-origin ${origin}, or `
      refuse('forbidden', {
        detail: `There is no sandbox "${name}", and pages of ${who} may not make one.`,
        mitigation: `${allow}${allow === '' ? 'M' : 'm'}ake the sandbox first.`,
        status: 403,
      })
    }
    return openSandbox(this.#options.sandboxes, name)
  }

  #turnAway(
    req: IncomingMessage,
    res: ServerResponse,
    refusal: Refusal,
    { sandbox, ...known }: Place,
  ): Promise<void> {
    const path = splitTarget(req.url ?? '')?.path ?? req.url ?? ''
    const pathPrefix = pathPrefixOf(path)
    const dialect = this.#routes.dialectOf(path.slice(pathPrefix.length + BASE.length))
    const headers = withoutBadName(req.headers) as Headers
    const connection = sandbox.faults.isEmpty ? undefined : passageOf(req)
    const request = {
      method: req.method ?? '',
      path,
      pathPrefix,
      dialect,
      headers,
      ...(connection && { connection }),
      ...known,
    }
    return this.#send(req, res, turnAway(sandbox, request, refusal))
  }

  async #send(
    req: IncomingMessage,
    res: ServerResponse,
    answer: Answer,
    extra?: readonly HeaderPair[],
  ): Promise<void> {
    const headers = extra ?? corsHeaders(this.#origin(req))
    const withBody = req.method !== 'HEAD'
    await discardBody(req)
    if (!isFaulted(answer)) return render(res, answer, headers, withBody)
    const { sendFaulted } = await loadWire()
    return sendFaulted(req, res, answer, headers, withBody, this.#options)
  }

  #origin(req: IncomingMessage) {
    const { origin } = req.headers
    return { origin, allowed: originAllowed(origin, { extra: this.#options.corsOrigins }) }
  }

  get #default(): Sandbox {
    return this.#options.sandboxes.default
  }
}

let wire: Promise<typeof import('./wire/index.ts')> | undefined

// No request pays for faults before there is one; and asking the loader again for what it has costs more than a request.
function loadWire() {
  wire ??= import('./wire/index.ts')
  return wire
}

function isFaulted(answer: Answer): answer is Answer & { readonly wire: Wire } {
  return answer.wire !== undefined
}

/** Where a request is turned away. */
interface Place {
  readonly sandbox: Sandbox
  readonly chosenBy: ChosenBy
  readonly nearest?: readonly string[]
  readonly armed?: readonly string[]
}

// All but Set-Cookie, which is for answers, are single texts.
type Headers = Readonly<Record<string, string | undefined>>

const NO_BODY: CallBody = { kind: 'none' }
const NO_CONTENT = { text: undefined, lines: undefined, durable: undefined } as const
