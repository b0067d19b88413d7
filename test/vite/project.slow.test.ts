import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { type Browser, chromium, type Page } from '@playwright/test'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { chromiumPath } from '../examples/browser/chromium.ts'
import { borrow, installed, write } from '../package/consumer.ts'
import { PATIENCE, PLAIN_ENV, run, succeed } from '../package/run.ts'

// A project of a user with the package, Vite and a browser that reaches only this machine.
const user = installed()
let browser: Browser

beforeAll(async () => {
  await borrow(user().folder, ['vite', 'vitest', 'typescript', '@types/node', 'undici-types'])
  await write(user().folder, FILES)
  // A proxy that does not exist: only addresses of loopback go around it.
  const proxy = { server: 'http://127.0.0.1:9', bypass: '127.0.0.1,localhost' }
  browser = await chromium.launch({ executablePath: chromiumPath(), proxy })
}, PATIENCE)

afterAll(() => browser?.close())

const config = (more = '') => `import workspaceEmulator from 'agent-workspace-emulator/vite'
import { defineConfig } from 'vite'
import { rendered } from './rendered.ts'
export default defineConfig({ plugins: [workspaceEmulator({ rate: 0 }), rendered()]${more} })
`

const FILES = {
  'vite.config.mts': config(),
  // A page that a server renders, by a request of its own.
  'rendered.ts': `import type { Plugin } from 'vite'
export const rendered = (): Plugin => ({
  name: 'rendered',
  configureServer(server) {
    server.middlewares.use('/rendered', async (_req, res) => {
      const { render } = await server.ssrLoadModule('/src/server.ts')
      res.setHeader('content-type', 'text/html').end(await render())
    })
  },
})
`,
  'index.html': '<h1></h1><button></button><p></p><script type="module" src="/src/main.ts"></script>\n',
  'src/env.d.ts': `/// <reference types="vite/client" />
/// <reference types="agent-workspace-emulator/vite/client" />
`,
  'src/client.ts': `const BASE: string = import.meta.env.VITE_WORKSPACE_BASE_URL
const HEADERS = { authorization: 'Bearer ' + import.meta.env.VITE_WORKSPACE_API_KEY, 'content-type': 'application/json' }
export const views = async (): Promise<number> => (await (await fetch(BASE + '/data-views', { headers: HEADERS })).json()).data.length
export const create = async (name: string): Promise<number> =>
  (await fetch(BASE + '/pages', { method: 'POST', headers: HEADERS, body: JSON.stringify({ name }) })).status
`,
  'src/main.ts': `import { create, views } from './client'
document.querySelector('h1')!.textContent = 'views: ' + (await views())
document.querySelector('button')!.textContent = 'first'
document.querySelector('button')!.onclick = async () => {
  document.querySelector('p')!.textContent = 'created: ' + (await create('Roof plan'))
}
export {}
`,
  'src/server.ts': `import { views } from './client'
export const render = async () => '<h1>rendered: ' + (await views()) + '</h1>'
`,
  'src/own.test.ts': `import { expect, test } from 'vitest'
test('the plugin leaves tests alone', () => expect(import.meta.env.VITE_WORKSPACE_BASE_URL).toBeUndefined())
`,
  'tsconfig.json': JSON.stringify({
    compilerOptions: {
      strict: true,
      noEmit: true,
      target: 'es2022',
      module: 'esnext',
      moduleResolution: 'bundler',
      allowImportingTsExtensions: true,
      skipLibCheck: true,
      types: ['node'],
      lib: ['es2023', 'esnext.disposable', 'dom'],
    },
    include: ['src', '*.ts', '*.mts'],
    exclude: ['src/own.test.ts'],
  }),
  '.env.emulated': 'VITE_WORKSPACE_BASE_URL=/v1\nVITE_WORKSPACE_API_KEY=live_demo_owner\n',
}

const VITE = 'node_modules/vite/bin/vite.js'

interface Started {
  readonly origin: string
  output(): string
  stop(): Promise<number | null>
}

/** Runs Vite as its user does, until it has printed the addresses of the emulator. */
async function vite(...args: readonly string[]): Promise<Started> {
  const child: ChildProcess = spawn(process.execPath, [VITE, ...args], {
    cwd: user().folder,
    env: { ...PLAIN_ENV, NO_COLOR: '1' },
    // Vite ends with its standard input.
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  const ended = once(child, 'exit')
  let text = ''
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (data) => {
      text += stripVTControlCharacters(String(data))
    })
  const stop = async () => {
    child.kill('SIGTERM')
    return (await ended)[0]
  }
  onTestFinished(() => void stop())
  const dashboard = /Workspace dashboard: (http:\/\/localhost:\d+)\/__emulator\/ui\//
  await expect.poll(() => text, { timeout: PATIENCE }).toMatch(dashboard)
  return { origin: dashboard.exec(text)?.[1] ?? '', output: () => text, stop }
}

/** An empty page, and the addresses outside the origin that it has requested. */
async function opened(origin: string): Promise<{ page: Page; foreign: string[] }> {
  const page = await browser.newPage()
  onTestFinished(() => page.close())
  page.setDefaultTimeout(120_000)
  const foreign: string[] = []
  page.on('request', (request) => {
    if (!/^blob:/.test(request.url()) && !request.url().startsWith(`${origin}/`)) foreign.push(request.url())
  })
  return { page, foreign }
}

const created = async (origin: string): Promise<number> => {
  const response = await fetch(`${origin}/__emulator/state/pages`)
  const { data } = (await response.json()) as { data: readonly { name?: string }[] }
  return data.filter(({ name }) => name === 'Roof plan').length
}

test('in the dev server, a page and its server reach the emulator; the state outlives restarts', async () => {
  const { origin, output, stop } = await vite('--port', '0')
  const { page, foreign } = await opened(origin)
  await page.goto(origin)
  await page.getByRole('heading', { name: /^views: \d+$/ }).waitFor()
  await page.getByRole('button').click()
  await page.getByText('created: 200').waitFor()
  await page.goto(`${origin}/rendered`)
  await page.getByRole('heading', { name: /^rendered: \d+$/ }).waitFor()
  await page.goto(`${origin}/__emulator/ui/#/default/requests`)
  await page.getByRole('row', { name: /POST \/pages 200/ }).waitFor()

  // Its socket applies a change, without another call of the page. A change before it is open does not arrive.
  const connected = page.waitForEvent('console', (message) => message.text().includes('[vite] connected'))
  await page.goto(origin)
  await connected
  await page.getByRole('button', { name: 'first' }).waitFor()
  await write(user().folder, { 'src/main.ts': FILES['src/main.ts'].replace('first', 'second') })
  await page.getByRole('button', { name: 'second' }).waitFor()

  await write(user().folder, { 'vite.config.mts': config(", define: { CHANGED: 'true' }") })
  await expect.poll(output, { timeout: PATIENCE }).toContain('server restarted.')
  expect(await created(origin)).toBe(1)
  // Another page: the restart makes the first one load itself again, which would interrupt a navigation.
  const other = await opened(origin)
  await other.page.goto(`${origin}/rendered`)
  await other.page.getByRole('heading', { name: /^rendered: \d+$/ }).waitFor()

  await stop()
  const again = await vite('--port', '0')
  expect(await created(again.origin)).toBe(1)
  expect([foreign, other.foreign]).toEqual([[], []])
})

test('in the preview server, a build has the values of its .env file', async () => {
  await succeed(user().folder, process.execPath, [VITE, 'build', '--mode', 'emulated', '--target', 'es2022'])
  const { origin } = await vite('preview', '--port', '0')
  const { page, foreign } = await opened(origin)
  await page.goto(origin)
  await page.getByRole('heading', { name: /^views: \d+$/ }).waitFor()
  await page.getByRole('button').click()
  await page.getByText('created: 200').waitFor()
  await page.goto(`${origin}/__emulator/ui/#/default/requests`)
  await page.getByRole('row', { name: /POST \/pages 200/ }).waitFor()
  expect(foreign).toEqual([])
})

test('a build without that file contains nothing of the emulator', async () => {
  await succeed(user().folder, process.execPath, [VITE, 'build', '--target', 'es2022', '--outDir', 'plain'])
  const { out } = await run(user().folder, 'grep', ['-rlE', 'live_demo|__emulator', 'plain'])
  expect([existsSync(join(user().folder, 'plain/index.html')), out]).toEqual([true, ''])
})

test('the variables have types, and Vitest runs while the dev server uses the data folder', async () => {
  await succeed(user().folder, process.execPath, ['node_modules/typescript/bin/tsc', '-p', '.'])
  await vite('--port', '0')
  const args = ['node_modules/vitest/vitest.mjs', 'run', 'src/own.test.ts']
  const { code, out, err } = await run(user().folder, process.execPath, args, { NO_COLOR: '1' })
  expect(code, out + err).toBe(0)
})
