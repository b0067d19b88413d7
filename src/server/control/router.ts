import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { type NextFunction, type Request, type Response, Router } from 'express'
import { didYouMean } from '../../core/did-you-mean.ts'
import { Refusal, refuse } from '../../core/errors.ts'
import type { Json } from '../../core/json.ts'
import type { Sandbox } from '../../core/sandboxes/sandbox.ts'
import { announcesBody } from '../http/body.ts'
import { controlCors, refusePage, refuseRemote } from '../http/guard.ts'
import { readJsonBody } from '../http/json-body.ts'
import { type Match, RouteTable } from '../route-table.ts'
import {
  chooseForControl,
  existingOrDefault,
  isForeignFetch,
  mountOf,
  originOfRequest,
  type Selection,
} from '../selection.ts'
import { type Context, serveCall } from './call.ts'
import type { ControlHost } from './host.ts'
import { asRefusal, reply, replyRefusal } from './reply.ts'
import { type AnyControlRoute, BASE, SMALL_BODY, VERSION_HEADER } from './route.ts'
import { controlRoutes } from './routes/index.ts'

/**
 * The control interface, for `/__emulator`: CORS, guards, then the routes, then the standard error body for any other request. Its
 * requests are never rate limited and never in the request log. The sandbox of a request is chosen by its header, or by the
 * `/@name` at the start of its original URL, after the path of a mount.
 */
export function controlRouter(host: ControlHost): Router {
  const routes = controlRoutes(host.service)
  const table = new RouteTable(routes)
  const router = Router()
  router.use((req: Request, res: Response, next: NextFunction) => {
    const isProbe = routes.some(({ probe, path }) => probe === true && path === req.path)
    const { headers, isPreflight } = controlCors(req, host.pages)
    for (const [name, value] of headers) res.setHeader(name, value)
    res.setHeader(VERSION_HEADER, host.version)
    // Browsers send preflights without the token.
    const refusal = refuseRequest(host, req, isProbe || isPreflight)
    if (refusal === undefined && isPreflight) reply(present(host, req), res, { status: 204 })
    else next(refusal)
  })
  router.use((req: Request, res: Response) => serve({ host, routes }, matching(table, req), req, res))
  // Express recognises an error handler by its four parameters.
  router.use((error: unknown, req: Request, res: Response, _next: NextFunction) => {
    if (res.headersSent) res.destroy()
    else replyRefusal(present(host, req), res, asRefusal(host, error))
  })
  return router
}

type Matched = Extract<Match<AnyControlRoute>, { kind: 'route' }>

async function serve(
  context: Context,
  { route, params }: Matched,
  req: Request,
  res: Response,
): Promise<void> {
  const { host } = context
  const mount = mountOf(req, BASE)
  const { name } = chosenBy(req)
  const gone = new AbortController()
  res.once('close', () => gone.abort())
  const { sandboxes } = host
  const [before, wasThere] = [sandboxes.get(name), sandboxes.has(name)]
  const received = await receive(route, req)
  if (received === 'gone') return
  // A request must not create a sandbox again that was removed while the body was read.
  const isRemoved =
    wasThere && (!sandboxes.has(name) || (before !== undefined && sandboxes.get(name) !== before))
  if (isRemoved && route.withoutSandbox !== true) throw sandboxes.removed(name)
  // An image or a link on a page of another site has no Origin, and passes the guards.
  const isForeign = req.headers.origin === undefined && isForeignFetch(req)
  const [response, sandbox] = await serveCall(context, {
    route,
    sandbox: name,
    params,
    query: req.query,
    body: received.value,
    ifMatch: req.headers['if-match'],
    ...originOfRequest(req),
    mount,
    isForeign,
    gone: gone.signal,
  })
  if (!res.destroyed) reply(sandbox, res, response)
}

// For requests that must not create a sandbox: preflights and refused requests.
function present({ sandboxes }: ControlHost, req: Request): Sandbox {
  return existingOrDefault(sandboxes, () => chosenBy(req))[0]
}

function chosenBy(req: Request): Selection {
  return chooseForControl(req.originalUrl.slice(mountOf(req, BASE).length), req)
}

// Clients may still use the first path of the presets. OpenAPI finds it ambiguous: /faults/{id} matches it, too.
const FIRST_PATH = /^\/faults\/presets(?=\/|$)/

function matching(table: RouteTable<AnyControlRoute>, { method, path }: Request): Matched {
  const match = table.match(method, path.replace(FIRST_PATH, '/fault-presets'))
  switch (match.kind) {
    case 'route':
      return match
    case 'malformed':
      return refuse('bad_request', {
        detail: 'The path contains an invalid percent-encoding.',
        mitigation: 'Write a percent sign as %25.',
      })
    case 'wrong_method': {
      const allow = match.allow.join(', ')
      return refuse('method_not_allowed', {
        detail: `${BASE}${path} does not accept ${method}; it accepts ${allow}.`,
        headers: [['Allow', allow]],
      })
    }
    case 'unknown':
      return unknownRoute(table.routes, path)
  }
}

function unknownRoute(routes: readonly AnyControlRoute[], path: string): never {
  // Without the base, which is the same in every path.
  const known = [...new Set(routes.map((route) => likened(route.path, path)))]
  return refuse('route_not_found', {
    detail: `The control interface has no route ${BASE}${path}.${didYouMean(path, known).replace('"/', `"${BASE}/`)}`,
    mitigation: `GET ${BASE} lists every route.`,
  })
}

// A template with the parameters of the path filled in, so that only its literal parts are compared.
function likened(template: string, path: string): string {
  const given = path.split('/')
  return template
    .split('/')
    .map((part, index) => (part.startsWith('{') ? (given[index] ?? part) : part))
    .join('/')
}

/** A received body; `gone` when the client disconnected. */
type ReceivedBody = { readonly value: Json | undefined } | 'gone'

/** Reads the body of a request if the route uses one. Refuses content types other than JSON. */
async function receive(route: AnyControlRoute, req: IncomingMessage): Promise<ReceivedBody> {
  if (route.method === 'GET' || !announcesBody(req)) return { value: undefined }
  const type = req.headers['content-type']
  // A page of another site can send other types, such as those of HTML forms, without a CORS preflight.
  if (!/^application\/json[ \t]*(;|$)/i.test(type ?? '')) {
    refuse('unsupported_media_type', {
      detail:
        type === undefined
          ? 'The body has no Content-Type.'
          : 'The Content-Type of the body is not application/json.',
    })
  }
  const body = await readJsonBody(req, route.bounds ?? SMALL_BODY)
  if (body === undefined) return 'gone'
  if (body.kind === 'refused') throw body.refusal
  return { value: body.kind === 'json' ? body.value : undefined }
}

/**
 * Checks host, origin and control token before the body is read. Returns undefined if the request may continue. A probe needs
 * no token.
 */
export function refuseRequest(
  host: Pick<ControlHost, 'hosts' | 'pages' | 'token'>,
  req: Pick<IncomingMessage, 'rawHeaders' | 'headers' | 'socket'>,
  isProbe = false,
): Refusal | undefined {
  const refusal = refusePage(req, host.hosts, host.pages) ?? refuseRemote(req, host.token)
  if (refusal !== undefined) return refusal
  if (isProbe || host.token === undefined || isToken(req.headers.authorization, host.token)) return undefined
  const detail =
    req.headers.authorization === undefined
      ? 'The control interface requires its token, and the request has no Authorization header.'
      : 'The Authorization header does not contain the control token. API keys are not accepted here.'
  return new Refusal('unauthorized', {
    detail,
    mitigation:
      'Send "Authorization: Bearer <control token>" with the token that the emulator was started with or printed.',
    headers: [['WWW-Authenticate', 'Bearer realm="control"']],
  })
}

// Digests have the same length, so the time of the comparison does not depend on the token.
function isToken(authorization: string | undefined, token: string): boolean {
  const given = /^bearer +([^\s,]+) *$/i.exec(authorization ?? '')?.[1]
  return given !== undefined && timingSafeEqual(digest(given), digest(token))
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
