import express, { type Express, type Request, type RequestHandler, type Router } from 'express'
import { Refusal } from '../../core/errors.ts'
import { mountOf, pathPrefixOf } from '../selection.ts'
import type { Api } from './api.ts'
import { announcesBody } from './body.ts'

/** The handlers that are served next to the API. */
export interface Handlers {
  readonly control: Router
  readonly consent: Router
  readonly dashboard: RequestHandler
  /** The checks of the target of a request that need no body: its host, and the origin of its page. */
  readonly refusal: (req: Request) => Refusal | undefined
}

/**
 * Creates the Express application: the API, the dashboard, the consent pages, the control interface, and a
 * `route_not_found` error in the API's format for everything else.
 */
export function createApp(api: Api, { control, consent, dashboard, refusal }: Handlers): Express {
  const app = express()
  app.disable('x-powered-by')
  app.disable('etag')
  app.enable('strict routing')
  app.enable('case sensitive routing')
  app.use((req, res, next) => {
    // The body would never arrive a second time.
    const isTaken = req.readableDidRead || req.readableFlowing === true
    if (isTaken && announcesBody(req)) void api.refuse(req, res, refusal(req) ?? bodyWasRead())
    else if (api.isClosing) void api.refuse(req, res, closed())
    else if (api.owns(req.url)) void api.handle(req, res)
    else next()
  })
  app.use((req, _res, next) => {
    const { length } = pathPrefixOf(req.url)
    // Generated test scripts check this path before they start.
    if (req.url === '/_x-steady/health') req.url = '/__emulator/ready'
    // Client generators look for the document of the API here.
    else if (req.url === `${req.url.slice(0, length)}/openapi.json`)
      req.url = '/__emulator/openapi.json?api=workspace'
    else if (/^\/(__emulator|consent\/)/.test(req.url.slice(length))) req.url = req.url.slice(length)
    next()
  })
  app.use(dashboard)
  app.use('/consent', consent)
  app.use('/__emulator', control)
  app.use((req, res) => {
    const mount = mountOf(req)
    req.url = req.originalUrl.slice(mount.length)
    const prefix = pathPrefixOf(req.url)
    const inside = prefix === '' ? '' : ` In a sandbox, the same paths are below ${mount}/@name.`
    const near = api.nearest(req.method, req.path.slice(prefix.length))
    const nearest =
      near.length === 0
        ? ''
        : ` Nearest: ${near.map((name) => name.replace(' ', ` ${mount}${prefix}`)).join('; ')}.`
    const detail = `Nothing is served at ${mount}${req.path}: the API is below ${mount}/v1, the control interface below ${mount}/__emulator, the dashboard at ${mount}/__emulator/ui/.${inside}${nearest}`
    void api.refuse(req, res, new Refusal('route_not_found', { detail }))
  })
  return app
}

function closed(): Refusal {
  return new Refusal('service_unavailable', {
    detail: 'This emulator has been closed.',
    mitigation: 'Mount the router of a running one.',
  })
}

function bodyWasRead(): Refusal {
  return new Refusal('internal_error', {
    detail:
      'A body parser of the server that mounts the emulator has read the body of this request, so the emulator cannot.',
    mitigation:
      "In that server, mount before express.json() and any other body parser: app.use('/emulator', emulator.router()), then app.use(express.json()).",
  })
}
