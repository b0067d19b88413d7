import { type NextFunction, type Request, type Response, Router } from 'express'
import { didYouMean } from '../../core/assumptions.ts'
import { Refusal, refuse } from '../../core/errors.ts'
import type { Sandbox } from '../../core/sandboxes/sandbox.ts'
import { chooseForControl, isForeignFetch, openSandbox, presentSandbox } from '../selection.ts'
import { asRefusal, fail, reply } from './answer.ts'
import { type Context, serveCall } from './call.ts'
import { refuseRequest } from './guard.ts'
import type { ControlHost } from './host.ts'
import { receive } from './input.ts'
import { type AnyRoute, BASE, paramNames } from './route.ts'
import { controlRoutes } from './routes/index.ts'

/**
 * The control interface, to be mounted at `/__emulator`: guards first, then the routes, then an answer in the standard
 * error body for everything else. It is never rate limited and never in the request log. The sandbox that a request is
 * about is chosen by its header, or by the `/@name` that its original URL begins with.
 */
export function controlRouter(host: ControlHost): Router {
  const routes = controlRoutes(host.service)
  const context = { host, routes }
  const router = Router({ caseSensitive: true, strict: true })
  router.use((req: Request, res: Response, next: NextFunction) => {
    const isProbe = routes.some(({ probe, path }) => probe === true && path === req.path)
    const refusal = refuseRequest(host, req, isProbe)
    if (refusal === undefined) next()
    else fail(present(host, req), res, refusal)
  })
  for (const [path, methods] of byPath(routes)) {
    router.all(expressPath(path), (req: Request, res: Response) => serve(context, methods, req, res))
  }
  router.use((req: Request) => unknownRoute(routes, req.path))
  // Express knows a handler of errors by its four parameters.
  router.use((error: unknown, req: Request, res: Response, _next: NextFunction) => {
    if (res.headersSent) res.destroy()
    else fail(present(host, req), res, asRefusal(host, error))
  })
  return router
}

type Methods = ReadonlyMap<string, AnyRoute>

async function serve(context: Context, methods: Methods, req: Request, res: Response): Promise<void> {
  const { host } = context
  const route = methods.get(req.method === 'HEAD' ? 'GET' : req.method) ?? wrongMethod(methods, req)
  const { name } = chooseForControl(req.originalUrl, req)
  const gone = new AbortController()
  res.once('close', () => gone.abort())
  if (route.waits === true) host.mayEnd(req, () => gone.abort(outOfConnections()))
  const received = await receive(host, route, req)
  if (received === 'gone') return
  if (route.opens === true) await host.sandboxes.openSaved(name)
  const sandbox = route.withoutSandbox === true ? present(host, req) : await chosen(host, req, name)
  const params = req.params as Readonly<Record<string, string>>
  const brought = { params, query: req.query, body: received.value, gone: gone.signal }
  const answer = await serveCall(context, { route, sandbox }, brought)
  if (res.destroyed) return
  if (gone.signal.aborted) throw gone.signal.reason
  reply(sandbox, res, answer)
}

function outOfConnections(): Refusal {
  return new Refusal('service_unavailable', {
    detail: 'As many connections are open as are held, and this request was the one that had waited longest.',
    mitigation: 'Close connections that are not needed, and send it again.',
  })
}

// A page of another site reaches the guards with an image or a link, too, and so could fill this process with sandboxes.
function chosen({ sandboxes }: ControlHost, req: Request, name: string): Sandbox | Promise<Sandbox> {
  const there = sandboxes.get(name)
  if (there !== undefined) return there
  if (sandboxes.has(name) || !isForeignFetch(req)) return openSandbox(sandboxes, name)
  return refuse('forbidden', {
    detail: `There is no sandbox "${name}", and pages of another site may not make one.`,
    mitigation: `Make the sandbox first: POST ${BASE}/sandboxes {"name": "${name}"}.`,
    status: 403,
  })
}

// Where nothing may be made: the request is refused, or concerns no sandbox.
function present({ sandboxes }: ControlHost, req: Request): Sandbox {
  return presentSandbox(sandboxes, () => chooseForControl(req.originalUrl, req))[0]
}

function wrongMethod(methods: Methods, req: Request): never {
  const allow = [...methods.keys(), ...(methods.has('GET') ? ['HEAD'] : [])].join(', ')
  return refuse('method_not_allowed', {
    detail: `${BASE}${req.path} does not take ${req.method}; it takes ${allow}.`,
    headers: [['Allow', allow]],
  })
}

function unknownRoute(routes: readonly AnyRoute[], path: string): never {
  // Without the base, which every path has in common.
  const known = [...new Set(routes.map((route) => likened(route.path, path)))]
  throw new Refusal('route_not_found', {
    detail: `The control interface has no route ${BASE}${path}.${didYouMean(path, known).replace('"/', `"${BASE}/`)}`,
    mitigation: `GET ${BASE} lists every route.`,
  })
}

// A template with the parameters that the path itself gives, so that only its literal parts make a difference.
function likened(template: string, path: string): string {
  const given = path.split('/')
  return template
    .split('/')
    .map((part, index) => (part.startsWith('{') ? (given[index] ?? part) : part))
    .join('/')
}

// Literal paths come first: `/state/{collection}` must not take what another route says in plain words.
function byPath(routes: readonly AnyRoute[]): [string, Methods][] {
  const paths = new Map<string, Map<string, AnyRoute>>()
  for (const route of routes) {
    const methods = paths.get(route.path) ?? new Map<string, AnyRoute>()
    if (methods.has(route.method)) throw new Error(`declared twice: ${route.method} ${BASE}${route.path}`)
    paths.set(route.path, methods.set(route.method, route))
  }
  return [...paths].sort(([a], [b]) => paramNames(a).length - paramNames(b).length)
}

function expressPath(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ':$1')
}
