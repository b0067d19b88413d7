import type { IncomingMessage, ServerResponse } from 'node:http'
import { Refusal } from '../../kernel/errors.ts'
import type { AnyOperation } from '../../kernel/operation.ts'
import { type Answer, quotaHeaders, turnAway } from '../../kernel/perform.ts'
import { DEFAULT_LIMIT, noWindow } from '../../kernel/rate-limiter.ts'
import type { Sandbox } from '../../kernel/sandbox.ts'
import { answerPreflight, corsHeaders, isPreflight } from './cors.ts'
import { discardBody } from './discard.ts'
import { type AllowedHosts, checkHost, originAllowed } from './guard.ts'
import { type HeaderPair, headerValues } from './headers.ts'
import { render } from './render.ts'
import { parseQuery, readCallBody, splitTarget } from './request.ts'
import { type Match, RouteTable } from './routes.ts'
import type { WireProblem } from './wire-problem.ts'

/** Where the version segment of the base URL stands. Specification: Versioning. */
const BASE = '/v1'

/** What the API needs to know of the world around it. */
export interface ApiOptions {
  readonly operations: Iterable<AnyOperation>
  /** The world that a request belongs to. */
  readonly sandbox: Sandbox
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

  /** True for a path below the base URL; everything else is somebody else's. */
  owns(target: string): boolean {
    return target.startsWith(`${BASE}/`) || target === BASE || target.startsWith(`${BASE}?`)
  }

  /** Answers one request. Never rejects; a client that went away gets nothing. */
  async answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    try {
      await this.#answer(req, res)
    } catch (error) {
      this.#options.sandbox.options.onSurprise(error)
      res.destroy()
    }
  }

  /** Answers what is not the API's and nobody else's: an unknown path outside the base URL, a foreign Host. */
  turnAway(req: IncomingMessage, res: ServerResponse, refusal: Refusal): Promise<void> {
    return this.#send(req, res, this.#refuse(req, refusal))
  }

  /** The answer to what never became a request. */
  wireAnswer(problem: WireProblem): Answer {
    const { code, detail, status } = problem
    const refusal = new Refusal(code, { detail, status })
    return turnAway(this.#options.sandbox, { method: '', path: '', dialect: 'standard' }, refusal)
  }

  async #answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const host = checkHost(headerValues(req.rawHeaders, 'host'), this.#options.hosts())
    if (!host.ok) {
      const code = host.status === 400 ? 'bad_request' : 'forbidden'
      return this.turnAway(req, res, new Refusal(code, { detail: host.detail, status: host.status }))
    }
    if (isPreflight(req.method, req.headers)) {
      const { status, headers } = answerPreflight(this.#origin(req), req.headers)
      const quota = quotaHeaders(noWindow(DEFAULT_LIMIT, this.#options.sandbox.limiterNow()))
      return this.#send(req, res, { status, headers: quota, ...NO_CONTENT }, headers)
    }
    const target = splitTarget(req.url ?? '')
    if (target === undefined) {
      const detail = 'The request target must be a path that starts with a slash.'
      return this.turnAway(req, res, new Refusal('bad_request', { detail }))
    }
    const match = this.#routes.match(req.method ?? '', target.path.slice(BASE.length))
    if (match.kind !== 'operation')
      return this.turnAway(req, res, noRoute(match, req.method ?? '', target.path))
    const { sandbox } = this.#options
    const body = await readCallBody(req, match.operation, sandbox)
    if (body === undefined) return
    const answer = sandbox.perform({
      operation: match.operation,
      method: req.method ?? '',
      path: target.path,
      pathPrefix: '',
      params: match.params,
      query: parseQuery(target.query),
      headers: req.headers as Readonly<Record<string, string | undefined>>,
      body,
    })
    return this.#send(req, res, answer)
  }

  #refuse(req: IncomingMessage, refusal: Refusal): Answer {
    const path = splitTarget(req.url ?? '')?.path ?? req.url ?? ''
    const dialect = this.#routes.dialectOf(path.slice(BASE.length))
    return turnAway(this.#options.sandbox, { method: req.method ?? '', path, dialect }, refusal)
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
}

const NO_CONTENT = { text: undefined, lines: undefined, durable: undefined } as const

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
