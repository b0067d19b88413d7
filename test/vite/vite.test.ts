import { realpathSync } from 'node:fs'
import type { RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { startEmulator } from 'agent-workspace-emulator'
import workspaceEmulator, { type ViteEmulatorOptions } from 'agent-workspace-emulator/vite'
import { createLogger, createServer, type InlineConfig, preview, type ViteDevServer } from 'vite'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryDirectory } from '../cli/in-process.ts'
import { write } from '../package/consumer.ts'
import { serving } from '../support/http-server.ts'
import { overSocket } from '../support/transport.ts'

const AUTH = { authorization: 'Bearer live_demo_owner' }
const OPTIONS: ViteEmulatorOptions = { ephemeral: true, rate: 0, scenarios: 'no-scenarios' }

const FILES = {
  'index.html': '<script type="module" src="/main.js"></script>',
  'main.js': 'export const url = import.meta.env.VITE_WORKSPACE_BASE_URL',
  'server.js': `const { VITE_WORKSPACE_BASE_URL: url, VITE_WORKSPACE_API_KEY: key } = import.meta.env
export const direct = import.meta.env.VITE_WORKSPACE_BASE_URL
export const load = () => fetch(url + '/data-views', { headers: { authorization: 'Bearer ' + key } })`,
  'dist/index.html': 'built',
}

async function project() {
  const root = realpathSync(temporaryDirectory())
  await write(root, FILES)
  const printed: string[] = []
  const customLogger = createLogger('info')
  for (const level of ['info', 'warn', 'error'] as const)
    customLogger[level] = (line) => void printed.push(stripVTControlCharacters(line))
  const config = (
    { plugins = [], server, ...others }: InlineConfig = {},
    options: ViteEmulatorOptions = {},
  ): InlineConfig => ({
    root,
    configFile: false,
    customLogger,
    server: { port: 0, ...server },
    plugins: [plugins, workspaceEmulator({ ...OPTIONS, ...options })],
    ...others,
  })
  return { root, printed, config, data: { ephemeral: false, data: join(root, 'data') } }
}

async function started(config: InlineConfig): Promise<ViteDevServer> {
  const server = await createServer(config)
  onTestFinished(() => server.close())
  return server
}

async function dev(config: InlineConfig): Promise<{ server: ViteDevServer; origin: string }> {
  const server = await started(config)
  await server.listen()
  return { server, origin: `http://localhost:${server.config.server.port}` }
}

const originOf = async (listener: RequestListener) => `http://localhost:${(await serving(listener)).port}`

const get = (url: string, headers: Record<string, string> = AUTH) =>
  overSocket(url, { method: 'GET', headers })

const post = (url: string, body: string) =>
  overSocket(url, { method: 'POST', headers: { ...AUTH, 'content-type': 'application/json' }, body })
const create = (origin: string) => post(`${origin}/v1/pages`, '{"name": "Roof plan"}')

test('the dev server serves the emulator at its own origin, next to the paths of Vite', async () => {
  const { config, root, printed } = await project()
  const { server, origin } = await dev(config())
  for (const path of ['/v1/data-views', '/v1/data-views?limit=1', '/@w1/v1/data-views'])
    expect((await get(origin + path)).status, path).toBe(200)
  for (const path of ['/__emulator/clock', '/@w1/__emulator/clock', '/__emulator/ui/'])
    expect((await get(origin + path, {})).status, path).toBe(200)
  expect((await get(`${origin}/v1`)).text).toContain('route_not_found')
  for (const path of ['/@vite/client', `/@fs${root}/main.js`, '/@id/server.js', '/v1.js', '/consent']) {
    const { text } = await get(origin + path, { accept: 'text/html' })
    expect(text, path).not.toContain('route_not_found')
  }
  expect((await get(`${origin}/@vite/client`)).text).toContain('WebSocket')
  expect((await get(`${origin}/@fs${root}/main.js`)).text).toContain('"VITE_WORKSPACE_BASE_URL": "/v1"')
  expect((await get(`${origin}/main.js`)).text).toContain('"VITE_WORKSPACE_API_KEY": "live_demo_owner"')
  server.printUrls()
  expect(printed.slice(-2)).toEqual([
    `  ➜  Workspace API: ${origin}/v1`,
    `  ➜  Workspace dashboard: ${origin}/__emulator/ui/`,
  ])
})

test('the consent page of a connection is at the origin of the page', async () => {
  const { origin } = await dev((await project()).config())
  const { text } = await post(`${origin}/v1/connections`, '{}')
  const { redirect_url } = JSON.parse(text)
  expect(redirect_url.startsWith(`${origin}/consent/`)).toBe(true)
  expect((await get(redirect_url, {})).status).toBe(200)
})

test('code for the server reaches the emulator, also in middleware mode', async () => {
  const server = await started((await project()).config({ server: { middlewareMode: true, ws: false } }))
  const { direct, load } = await server.ssrLoadModule('/server.js')
  expect(direct).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/v1$/)
  expect((await load()).status).toBe(200)
  const origin = await originOf(server.middlewares)
  expect((await get(`${origin}/v1/data-views`)).status).toBe(200)
  await server.close()
  await expect(load()).rejects.toThrow('fetch failed')
})

async function pages(origin: string): Promise<readonly string[]> {
  const { data } = JSON.parse((await get(`${origin}/__emulator/state/pages`, {})).text)
  return data.flatMap(({ name }: { name?: string }) => (name === 'Roof plan' ? [name] : []))
}

test('a restart of the server keeps the state, and the last close ends the emulator', async () => {
  const { server, origin } = await dev((await project()).config())
  expect((await create(origin)).status).toBe(200)
  const { load } = await server.ssrLoadModule('/server.js')
  for (let times = 0; times < 3; times += 1) await server.restart()
  expect(await pages(origin)).toEqual(['Roof plan'])
  expect((await load()).status).toBe(200)
  expect((await (await server.ssrLoadModule('/server.js')).load()).status).toBe(200)
  await server.close()
  await expect(load()).rejects.toThrow('fetch failed')
})

test('servers of a project that start together share an emulator', async () => {
  const { config, data } = await project()
  const quiet = { server: { middlewareMode: true, ws: false } } as const
  const servers = await Promise.all([1, 2].map(() => started(config(quiet, data))))
  const loads = await Promise.all(
    servers.map(async (each) => (await each.ssrLoadModule('/server.js')).direct),
  )
  expect(loads[0]).toBe(loads[1])
})

test('other options start the emulator again with the state of the folder; invalid ones change nothing', async () => {
  const { config, data } = await project()
  const { origin, server } = await dev(config({}, data))
  const { load } = await server.ssrLoadModule('/server.js')
  await create(origin)
  await expect(createServer(config({}, { ...data, scenario: 'nothing' }))).rejects.toThrow('nothing')
  expect(await pages(origin)).toEqual(['Roof plan'])
  expect((await load()).status).toBe(200)
  const second = await dev(config({}, { ...data, skipOnPoll: true }))
  for (const each of [origin, second.origin]) {
    expect(await pages(each)).toEqual(['Roof plan'])
    expect(JSON.parse((await get(`${each}/__emulator/ready`, {})).text).status).toBe('ready')
  }
})

test('the preview server serves the emulator and the build', async () => {
  const { config, printed, data } = await project()
  const server = await preview({ ...config({}, data), preview: { port: 0 } })
  onTestFinished(() => server.close())
  const { port } = server.httpServer.address() as AddressInfo
  const origin = `http://localhost:${port}`
  expect((await get(`${origin}/v1/data-views`)).status).toBe(200)
  expect((await get(`${origin}/__emulator/clock`, { host: 'evil.example' })).status).toBe(403)
  expect((await get(`${origin}/any`, { accept: 'text/html' })).text).toBe('built')
  server.printUrls()
  expect(printed.at(-1)).toBe(`  ➜  Workspace dashboard: ${origin}/__emulator/ui/`)
  // Closed, it has left the data folder to others.
  await server.close()
  await (await startEmulator({ port: 0, ...data })).close()
})

test('control is open to the own Host and Origin only; the checks of Vite stay on', async () => {
  const { origin } = await dev((await project()).config())
  expect((await get(`${origin}/v1/data-views`, { ...AUTH, host: 'evil.example' })).text).toContain(
    'server.allowedHosts',
  )
  for (const path of ['/__emulator/clock', '/@default/__emulator/clock', '/__emulator/ui/']) {
    const foreign = await get(origin + path, { origin: 'http://localhost:1' })
    expect([foreign.status, JSON.parse(foreign.text).error], path).toEqual([403, 'forbidden'])
    expect((await get(origin + path, { origin })).status, path).toBe(200)
  }
  const allowed = await get(`${origin}/v1/data-views`, { ...AUTH, origin: 'http://localhost:1' })
  expect([allowed.status, allowed.headers.get('access-control-allow-origin')]).toEqual([
    200,
    'http://localhost:1',
  ])
})

test('names in allowedHosts of Vite are names of the emulator; true allows no name', async () => {
  const named = await dev((await project()).config({ server: { allowedHosts: ['app.test', '.other.test'] } }))
  for (const path of ['/v1/data-views', '/__emulator/ui/'])
    expect((await get(named.origin + path, { ...AUTH, host: 'app.test' })).status).toBe(200)
  expect((await get(`${named.origin}/__emulator/clock`, { host: 'a.other.test' })).status).toBe(403)
  const all = await dev((await project()).config({ server: { allowedHosts: true } }))
  for (const path of ['/v1/data-views', '/__emulator/clock'])
    expect((await get(all.origin + path, { ...AUTH, host: 'evil.example' })).status).toBe(403)
})

test.for(['server', 'preview'] as const)(
  'a %s that other machines can reach needs a control token',
  async (kind) => {
    const { config } = await project()
    const open = { ...config({ server: { host: true } }), preview: { host: true, port: 0 } }
    await expect(kind === 'server' ? createServer(open) : preview(open)).rejects.toThrow(
      /Vite listens on 0\.0\.0\.0 and there is no control token.*workspaceEmulator\(\{ controlToken/s,
    )
  },
)

test('with --host and a token, pages at an address of this machine reach the API, and control asks for the token', async () => {
  const { config } = await project()
  const { server, origin } = await dev(config({ server: { host: true } }, { controlToken: 'secret' }))
  for (const url of [origin, ...(server.resolvedUrls?.network ?? [])]) {
    const at = url.replace(/\/$/, '')
    expect((await get(`${at}/v1/data-views`)).status, at).toBe(200)
    expect((await get(`${at}/__emulator/clock`, {})).status, at).toBe(401)
    expect((await get(`${at}/__emulator/clock`, { authorization: 'Bearer secret' })).status, at).toBe(200)
  }
})

test('server.proxy and base of Vite keep working', async () => {
  const target = await originOf((_req, res) => void res.end('proxied'))
  const { config } = await project()
  const { origin } = await dev(config({ base: '/app/', server: { proxy: { '/other': target } } }))
  expect((await get(`${origin}/other`)).text).toBe('proxied')
  expect((await get(`${origin}/app/main.js`)).text).toContain('"VITE_WORKSPACE_BASE_URL": "/v1"')
  expect((await get(`${origin}/v1/data-views`)).status).toBe(200)
})

test('with https, which is HTTP/2 in Vite, pages use the port of the emulator', async () => {
  const server = await started(
    (await project()).config({ server: { https: {}, middlewareMode: true, ws: false } }),
  )
  expect(server.config.env.VITE_WORKSPACE_BASE_URL).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/v1$/)
})

test('in Vitest and in a build, the plugin does nothing', async () => {
  const { config } = await project()
  const server = await started(
    config({ plugins: [[{ name: 'vitest:project' }]], server: { middlewareMode: true, ws: false } }),
  )
  expect(server.config.env.VITE_WORKSPACE_BASE_URL).toBeUndefined()
  const { apply } = workspaceEmulator()
  expect(typeof apply === 'function' && apply({}, { command: 'build', mode: 'production' })).toBe(false)
})

test('a key that is not known in plain text is reported, and not set', async () => {
  const { config, data, printed } = await project()
  await (await started(config({}, data))).close()
  const server = await started(config({}, { ...data, fixtures: { collections: {} } }))
  expect(server.config.env.VITE_WORKSPACE_BASE_URL).toBe('/v1')
  expect(server.config.env.VITE_WORKSPACE_API_KEY).toBeUndefined()
  expect(printed.at(-1)).toMatch(/VITE_WORKSPACE_API_KEY is not set\. No key .* Set it in \.env\.local/)
})

test('a refused call is printed, with the command that explains it', async () => {
  const { config, printed } = await project()
  const { origin } = await dev(config())
  await (await fetch(`${origin}/v1/pages`, { method: 'POST', headers: AUTH })).text()
  await expect.poll(() => printed.filter((line) => line.includes('explain'))).toHaveLength(1)
  expect(printed.at(-1)).toMatch(
    /POST \/v1\/pages: 4\d\d\. Why: npx agent-workspace-emulator explain default-000001 --url http:\/\/127\.0\.0\.1:\d+/,
  )
})
