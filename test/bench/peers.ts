import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Another npm server that serves the same requests as far as it can. */
export interface Peer {
  readonly name: string
  /** The features of the emulator that it does not have, which affects every figure. */
  readonly lacks: string
  /** Writes its files and returns the script with its arguments. */
  readonly prepare: (folder: string, port: number) => readonly string[]
  readonly paths: Paths
}

export interface Paths {
  readonly list: string
  readonly pages: string
  readonly batches: string
}

/** The measured versions: they run on every version of Node that the package supports. */
const VERSIONS = {
  'json-server': '1.0.0-beta.3',
  stubby: '5.1.1',
  '@mockoon/cli': '9.9.0',
  '@stoplight/prism-cli': '5.14.2',
  msw: '2.9.0',
  '@mswjs/http-middleware': '0.10.3',
}

const FOLDER = join(tmpdir(), 'workspace-emulator-bench-peers')

/** Installs the other servers into a temporary folder, unless they are there. The project does not depend on them. */
export function installPeers(): void {
  const packages = Object.entries(VERSIONS).map(([name, version]) => `${name}@${version}`)
  const done = join(FOLDER, `${packages.join(' ').replaceAll(/[^\w.-]+/g, '_')}.done`)
  if (existsSync(done)) return
  mkdirSync(FOLDER, { recursive: true })
  const quiet = ['--no-audit', '--no-fund', '--ignore-scripts', '--loglevel', 'error']
  execFileSync('npm', ['install', '--prefix', FOLDER, ...quiet, ...packages], { stdio: 'inherit' })
  writeFileSync(done, '')
}

const module = (path: string): string => join(FOLDER, 'node_modules', path)

const users = Array.from({ length: 100 }, (_, n) => ({
  id: `user-${n}`,
  email: `user-${n}@example.com`,
  first_name: 'First',
  last_name: `Last ${n}`,
  permissions: { role: 'member', agent_ids: [] },
}))
const page = { object: 'page', id: 'page-1', name: 'Roof plan', teamspace_id: 'ts-a', scope: 'teamspace' }
const about = { status: 'completed', model: 'model-1', metadata: {} }
const batch = { object: 'batch_prediction', id: 'batch-1', ...about }
const OURS = {
  list: '/v1/organization/teamspaces/ts-a/users?limit=100',
  pages: '/v1/pages',
  batches: '/v1/batch-predictions',
}
const SHORT = { list: '/users', pages: '/pages', batches: '/batches' }

function written(folder: string, name: string, value: unknown): string {
  const file = join(folder, name)
  writeFileSync(file, JSON.stringify(value))
  return file
}

export const PEERS: readonly Peer[] = [
  {
    name: 'stubby',
    lacks: 'keeps no state: every response is fixed. No checks of the request, no clock, no limits',
    paths: { ...OURS, list: '/v1/organization/teamspaces/ts-a/users' },
    prepare: (folder, port) => {
      const fixed = (method: string, url: string, body: unknown) => ({
        request: { method, url: `^${url}$` },
        response: { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) },
      })
      const data = written(folder, 'stubby.json', [
        fixed('GET', '/v1/organization/teamspaces/ts-a/users', { object: 'list', data: users }),
        fixed('POST', OURS.pages, page),
        fixed('POST', OURS.batches, batch),
        fixed('GET', `${OURS.batches}/batch-1`, batch),
      ])
      const ports = ['-s', String(port), '-a', String(port + 1), '-t', String(port + 2)]
      return [module('stubby/bin/stubby'), '-q', '-l', '127.0.0.1', ...ports, '-d', data]
    },
  },
  {
    name: 'json-server',
    lacks:
      'rewrites its whole file for a create, some time after the response. No checks, no clock, no limits, no log',
    paths: SHORT,
    prepare: (folder, port) => {
      const data = written(folder, 'db.json', { users, pages: [], batches: [] })
      return [module('json-server/lib/bin.js'), data, '--port', String(port), '--host', '127.0.0.1']
    },
  },
  {
    name: 'Mockoon',
    lacks: 'keeps records only in memory. No checks of the request, no clock, no limits',
    paths: SHORT,
    prepare: (folder, port) => {
      const buckets = Object.entries({ users, pages: [], batches: [] })
      const routes = buckets.map(([name]) => mockoonRoute(name))
      const data = written(folder, 'mockoon.json', {
        uuid: 'a5f0c3de-6f3e-4b2a-9a62-000000000001',
        lastMigration: 33,
        name: 'bench',
        port,
        hostname: '127.0.0.1',
        routes,
        rootChildren: routes.map(({ uuid }) => ({ type: 'route', uuid })),
        data: buckets.map(([name, value]) => {
          return { uuid: idOf(name), id: name, name, value: JSON.stringify(value) }
        }),
      })
      const flags = ['--repair', '--disable-log-to-file', '--disable-admin-api', '--port', String(port)]
      return [module('@mockoon/cli/bin/run.js'), 'start', '--data', data, ...flags]
    },
  },
  {
    name: 'Prism',
    lacks:
      'keeps no state: responds with the examples of a contract, against which it checks requests. No clock, no limits',
    paths: SHORT,
    prepare: (folder, port) => {
      const contract = written(folder, 'openapi.json', openApi())
      const flags = ['-h', '127.0.0.1', '-p', String(port)]
      return [module('@stoplight/prism-cli/dist/index.js'), 'mock', ...flags, contract]
    },
  },
  {
    name: 'msw',
    lacks:
      'keeps records only in memory, with handlers written for this table. No checks, no clock, no limits, no log',
    paths: OURS,
    prepare: (_, port) => ['test/bench/msw-app.mjs', FOLDER, String(port)],
  },
]

function idOf(name: string): string {
  return `a5f0c3de-6f3e-4b2a-9a62-${Buffer.from(name.padEnd(6, '-')).toString('hex')}`
}

function mockoonRoute(name: string) {
  const crud = { uuid: idOf(`r${name}`.slice(0, 6)), type: 'crud', method: '', endpoint: name }
  const uuid = idOf(`s${name}`.slice(0, 6))
  const body = { body: '{}', bodyType: 'DATABUCKET', databucketID: name, crudKey: 'id' }
  const headers = [{ key: 'content-type', value: 'application/json' }]
  return { ...crud, responses: [{ uuid, ...body, statusCode: 200, default: true, headers }] }
}

function openApi() {
  const response = (example: unknown) => ({
    description: 'ok',
    content: { 'application/json': { schema: { type: 'object' }, example } },
  })
  const body = { required: true, content: { 'application/json': { schema: { type: 'object' } } } }
  const get = (example: unknown) => ({ get: { responses: { 200: response(example) } } })
  const post = (example: unknown) => ({ post: { requestBody: body, responses: { 200: response(example) } } })
  const parameters = [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }]
  return {
    openapi: '3.0.3',
    info: { title: 'bench', version: '1' },
    paths: {
      '/users': get({ object: 'list', data: users }),
      '/pages': post(page),
      '/batches': post(batch),
      '/batches/{id}': { parameters, ...get(batch) },
    },
  }
}
