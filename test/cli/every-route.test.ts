import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { workspaceService } from '../../src/emulator/service.ts'
import { controlRoutes } from '../../src/server/control/routes/index.ts'

/** The folders that call the control interface for a user of the command line. */
const FOLDERS = ['src/cli', 'src/terminal']

/** Every route that the code of the command line calls: its clients accept the route as a text, such as `GET /clock`. */
const called = new Set(
  FOLDERS.flatMap((folder) => readdirSync(folder).map((file) => join(folder, file)))
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .flatMap((file) => [
      ...readFileSync(file, 'utf8').matchAll(/'((?:GET|POST|PUT|PATCH|DELETE) \/[^'$]*)'/g),
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
