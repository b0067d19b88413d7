import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { allCommands } from '../../src/cli/command-line.ts'
import { workspaceService } from '../../src/emulator/service.ts'
import { controlRoutes } from '../../src/server/control/routes/index.ts'

/** Why each command exists. The rest of the control interface is reached by `call`. */
const REASONS: Readonly<Record<string, string>> = {
  'it starts or ends an emulator, or prepares one':
    'start, stop, wait, status, doctor, open, env, init, completion, validate',
  'it runs a program of the user with an emulator of its own': 'exec, certify, hunt, replay, mcp',
  'it prints a document without an emulator': 'openapi, schema',
  'it makes any call, also one without a command': 'call',
  'CI waits for its exit code': 'requests verify, requests wait, conduct, coverage',
  'it makes several calls, or adds to what one returns':
    'clock advance, events, explain, faults add, gates release, gates abort, latency, scenario stop, webhook listen, requests, sandbox create, settings get, webhook trigger, limits fill, limits set',
  'it writes or reads a file':
    'requests export, record, state export, state import, state put, endpoints add, import, drift, drift record',
  'people type it many times a day':
    'reset, clock, clock rate, snapshot save, snapshot restore, snapshot delete, settings set, scenario start, faults clear, limits clear, state patch, state delete, sandbox delete, webhook add, webhook remove, webhook redeliver, batch hold, batch release, batch fail, batch expire, batch complete, batch cleanup',
  'its table shows what JSON hides':
    'snapshot list, sandbox list, faults list, faults presets, limits list, scenario list, gates, state, state list, state get, batch list, batch show, batch results, webhook list, webhook deliveries, webhook inbox, assumptions, endpoints',
}

const commands = await allCommands()

test('there are few commands, and each has a reason', () => {
  const explained = Object.values(REASONS).flatMap((names) => names.split(', '))
  expect(explained.toSorted()).toEqual(commands.map(({ name }) => name).toSorted())
  expect(commands.length).toBeLessThanOrEqual(87)
})

const sources = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((file) => /(?<!\.test)\.tsx?$/.test(file))
  .map((file) => ({ file, text: readFileSync(join('src', file), 'utf8') }))

/** Every route that the code of the command line calls: its clients accept the route as a text, such as `GET /clock`. */
const called = sources
  .filter(({ file }) => /^(?:cli|terminal)\/[^/]*$/.test(file))
  .flatMap(({ text }) => [...text.matchAll(/'((?:GET|POST|PUT|PATCH|DELETE) \/[^'$]*)'/g)])
  .map(([, route = '']) => route)

test('every call of a command uses a route that exists', () => {
  const routes = new Set(controlRoutes(workspaceService).map(({ method, path }) => `${method} ${path}`))
  expect(called.length).toBeGreaterThan(50)
  expect(called.filter((route) => !routes.has(route))).toEqual([])
})

test('every command that a message names exists', () => {
  const names = new Set(commands.flatMap(({ name }) => [name, name.split(' ')[0]]))
  const named = sources.flatMap(({ text }) => [
    ...text.matchAll(/"workspace-emulator (?!-)([a-z-]+)(?: ([a-z]+))?(?=[ ".])/g),
  ])
  const unknown = named.filter(([, first, second]) => !names.has(`${first} ${second}`) && !names.has(first))
  expect(named.length).toBeGreaterThan(50)
  expect(unknown.map(([text]) => text)).toEqual([])
})

test('only messages about routes themselves name routes', () => {
  const files = sources
    .filter(({ text }) => /^(?!\s*(?:\/\/|\*|\/\*)).*[A-Z]+ \/__emulator\//m.test(text))
    .map(({ file }) => file)
  // One is about the header ETag, the other about another way to read a stream of events.
  expect(files.toSorted()).toEqual(['server/control/feed.ts', 'server/control/routes/records.ts'])
})
