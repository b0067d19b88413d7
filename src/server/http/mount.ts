import type { RequestListener } from 'node:http'
import type { Express } from 'express'
import { load } from '../../core/load.ts'
import type { MountedHandler } from '../handlers.ts'

// Express takes a while to load, and `emulator.app` is not a promise: it is loaded when the property is first read.
const loadExpress = () => load('express') as typeof import('express')

/** An Express router that serves everything. @param loadApp loads the code at the first request */
export function routerOf(loadApp: () => Promise<RequestListener | Express>): MountedHandler {
  const router = loadExpress().Router()
  router.use((req, res, next) => void loadApp().then((app) => app(req, res, next), next))
  return router as unknown as MountedHandler
}

/** An Express application that serves everything. */
export function applicationOf(loadApp: () => Promise<RequestListener | Express>): MountedHandler {
  const app = loadExpress()()
  app.disable('x-powered-by')
  app.use(routerOf(loadApp) as RequestListener)
  return app as unknown as MountedHandler
}
