import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { workspaceService } from '../../src/emulator/service.ts'
import { controlRoutes } from '../../src/server/control/routes/index.ts'

const FOLDER = 'src/adapters/cli'

/** Every route that the code of the command line calls: its clients accept the route as a text, such as `GET /clock`. */
const called = new Set(
  readdirSync(FOLDER)
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .flatMap((file) => [
      ...readFileSync(join(FOLDER, file), 'utf8').matchAll(/'((?:GET|POST|PUT|PATCH|DELETE) \/[^'$]*)'/g),
    ])
    .map(([, route = '']) => route),
)

const routes = new Set(controlRoutes(workspaceService).map(({ method, path }) => `${method} ${path}`))

test('every route of the control interface has a command', () => {
  expect([...routes].filter((route) => !called.has(route))).toEqual([])
})

test('every call of a command uses a route that exists', () => {
  expect([...called].filter((route) => !routes.has(route))).toEqual([])
})
