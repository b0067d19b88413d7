import type { RequestListener } from 'node:http'
import { createRequire } from 'node:module'
import type { Express } from 'express'
import type { MountedHandler } from '../handlers.ts'

const load = createRequire(import.meta.url)

// Express takes a while to load, and `emulator.app` is not a promise: it is loaded when the property is first read.
const loadExpress = (): typeof import('express') => load('express')

/** An Express router that serves everything. @param loadApp loads the code at the first request */
export function routerOf(loadApp: () => Promise<Express>): MountedHandler {
  const router = loadExpress().Router()
  router.use((req, res, next) => void loadApp().then((app) => app(req, res, next), next))
  return router as unknown as MountedHandler
}

/** An Express application that serves everything. */
export function applicationOf(loadApp: () => Promise<Express>): MountedHandler {
  const app = loadExpress()()
  app.disable('x-powered-by')
  app.use(routerOf(loadApp) as RequestListener)
  return app as unknown as MountedHandler
}
