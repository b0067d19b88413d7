import type { IncomingMessage, ServerResponse } from 'node:http'
import { Refusal, refuse } from '../../kernel/errors.ts'
import type { AnyOperation } from '../../kernel/operation.ts'
import { type Answer, quotaHeaders } from '../../kernel/request/answer.ts'
import type { ChosenBy } from '../../kernel/request/exchange.ts'
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
import { answerPreflight, corsHeaders, isPreflight } from './cors.ts'
import { discardBody } from './discard.ts'
import { type AllowedHosts, checkHost, originAllowed } from './guard.ts'
import { type HeaderPair, headerValues } from './headers.ts'
import { render } from './render.ts'
import { parseQuery, readCallBody, splitTarget, type Target } from './request.ts'
import { type Match, RouteTable } from './routes.ts'
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
}

/** The emulated API on plain requests and responses: it works in front of Express as well as inside it. */
export class Api {
  readonly #options: ApiOptions
  readonly #routes: RouteTable

  constructor(options: ApiOptions) {
    this.#options = options
    this.#routes = new RouteTable(options.operations)
  }

  /** True for a path below the base URL, that of a sandbox included; everything else is somebody else's. */
  owns(target: string): boolean {
    const at = pathPrefixOf(target).length
    if (!target.startsWith(BASE, at)) return false
    const next = target.charAt(at + BASE.length)
    return next === '/' || next === '' || next === '?'
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
    const match = this.#routes.match(method, path.slice(pathPrefix.length + BASE.length))
    if (match.kind !== 'operation') {
      const nearest = nearMisses(match, path)
      return this.#turnAway(req, res, noRoute(match, method, path), { sandbox, chosenBy, nearest })
    }
    const body = await readCallBody(req, match.operation, sandbox, authorization)
    if (body === undefined) return
    if (this.#options.sandboxes.get(name) !== sandbox) {
      return this.#turnAway(req, res, removed(name), { sandbox: this.#default, chosenBy: 'default' })
    }
    const headers = req.headers as Headers
    const answer = sandbox.perform({
      operation: match.operation,
      method,
      path,
      pathPrefix,
      chosenBy,
      params: match.params,
      query: parseQuery(query),
      headers: headers.authorization === authorization ? headers : { ...headers, authorization },
      body,
    })
    return this.#send(req, res, answer)
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
    const request = { method: req.method ?? '', path, pathPrefix, dialect, headers, ...known }
    return this.#send(req, res, turnAway(sandbox, request, refusal))
  }

  async #send(
    req: IncomingMessage,
    res: ServerResponse,
    answer: Answer,
    extra?: readonly HeaderPair[],
  ): Promise<void> {
    await discardBody(req)
    await render(res, answer, extra ?? corsHeaders(this.#origin(req)), req.method !== 'HEAD')
  }

  #origin(req: IncomingMessage) {
    const { origin } = req.headers
    return { origin, allowed: originAllowed(origin, { extra: this.#options.corsOrigins }) }
  }

  get #default(): Sandbox {
    return this.#options.sandboxes.default
  }
}

/** Where a request is turned away. */
interface Place {
  readonly sandbox: Sandbox
  readonly chosenBy: ChosenBy
  readonly nearest?: readonly string[]
}

// All but Set-Cookie, which is for answers, are single texts.
type Headers = Readonly<Record<string, string | undefined>>

const NO_CONTENT = { text: undefined, lines: undefined, durable: undefined } as const

function removed(name: string): Refusal {
  return new Refusal('conflict', {
    detail: `The sandbox "${name}" was removed while the request was coming in.`,
    mitigation: 'Send it again; the sandbox is then made anew.',
  })
}

function nearMisses(match: Exclude<Match, { kind: 'operation' }>, path: string): readonly string[] {
  if (match.kind === 'unknown') return match.nearest
  return match.kind === 'wrong_method' ? match.allow.map((method) => `${method} ${path}`) : []
}

function noRoute(match: Exclude<Match, { kind: 'operation' }>, method: string, path: string): Refusal {
  if (match.kind === 'malformed') {
    return new Refusal('bad_request', {
      detail: `The path "${path}" has a percent sign that encodes nothing in UTF-8.`,
    })
  }
  if (match.kind === 'wrong_method') {
    const allow = match.allow.join(', ')
    return new Refusal('method_not_allowed', {
      detail: `${path} does not take ${method}; it takes ${allow}.`,
      headers: [['Allow', allow]],
      assumed: ['U072'],
    })
  }
  const nearest = match.nearest.length === 0 ? '' : ` Nearest: ${match.nearest.join('; ')}.`
  return new Refusal('route_not_found', {
    detail: `There is no operation ${method} ${path}.${nearest}`,
    mitigation: 'GET /__emulator/operations lists every operation.',
  })
}
