import express, { type Express, type RequestHandler, type Router } from 'express'
import { Refusal } from '../../core/errors.ts'
import { pathPrefixOf } from '../selection.ts'
import type { Api } from './api.ts'

/** The handlers that are served next to the API. */
export interface Handlers {
  readonly control: Router
  readonly consent: Router
  readonly dashboard: RequestHandler
}

/**
 * Creates the Express application: the API, the dashboard, the consent pages, the control interface, and a
 * `route_not_found` error in the API's format for everything else.
 */
export function createApp(api: Api, { control, consent, dashboard }: Handlers): Express {
  const app = express()
  app.disable('x-powered-by')
  app.disable('etag')
  app.enable('strict routing')
  app.enable('case sensitive routing')
  app.use((req, res, next) => {
    if (api.owns(req.url)) void api.handle(req, res)
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
    req.url = req.originalUrl
    const prefix = pathPrefixOf(req.url)
    const inside = prefix === '' ? '' : ' In a sandbox, the same paths are below /@name.'
    const near = api.nearest(req.method, req.path.slice(prefix.length))
    const nearest =
      near.length === 0 ? '' : ` Nearest: ${near.map((name) => name.replace(' ', ` ${prefix}`)).join('; ')}.`
    const detail = `Nothing is served at ${req.path}: the API is below /v1, the control interface below /__emulator, the dashboard at /__emulator/ui/.${inside}${nearest}`
    void api.refuse(req, res, new Refusal('route_not_found', { detail }))
  })
  return app
}
