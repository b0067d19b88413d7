import { readdirSync, readFileSync } from 'node:fs'
import { request } from 'node:http'
import { gzipSync } from 'node:zlib'
import { expect, onTestFinished, test } from 'vitest'
import { openEmulator } from '../../src/emulator/emulator.ts'

const gzipped = (name: string) => gzipSync(readFileSync(`dist/dashboard/${name}`)).length

async function running(options = {}) {
  const emulator = await openEmulator({ port: 0, ephemeral: true, rate: 0, ...options })
  onTestFinished(() => emulator.close())
  return emulator
}

/** The status and the headers of a request with any Host, which fetch cannot send. */
function head(url: string, headers: Record<string, string>): Promise<{ status: number; location?: string }> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { headers }, (res) => {
      res.resume()
      const { location } = res.headers
      resolve({ status: res.statusCode ?? 0, ...(location !== undefined && { location }) })
    })
    sent.on('error', reject)
    sent.end()
  })
}

test('/ redirects a browser to the dashboard, and gives addresses to every other client', async () => {
  const { url } = await running()
  expect(await head(`${url}/`, { accept: 'text/html,*/*' })).toEqual({
    status: 302,
    location: '/__emulator/ui/',
  })
  const response = await fetch(`${url}/`)
  expect(response.status).toBe(200)
  expect(await response.text()).toContain('/__emulator/ui/')
  expect(await head(`${url}/__emulator/ui`, {})).toEqual({ status: 302, location: '/__emulator/ui/' })
})

test('page and assets need no control token, but every API call does', async () => {
  const { url } = await running({ controlToken: 'secret' })
  const page = await fetch(`${url}/__emulator/ui/`)
  expect(page.status).toBe(200)
  for (const [, asset] of (await page.text()).matchAll(/(?:href|src)="([^"]+)"/g))
    expect((await fetch(`${url}/__emulator/ui/${asset}`)).status).toBe(200)
  expect((await fetch(`${url}/__emulator/clock`)).status).toBe(401)
})

test('coverage is counted from the first page on, with the requests that the log still has', async () => {
  const { url, baseUrl } = await running()
  const key = { authorization: 'Bearer live_demo_owner' }
  const met = async () => {
    const response = await fetch(`${url}/__emulator/coverage`)
    const { data = [] } = (await response.json()) as { data?: { id: string; met: string | null }[] }
    return [response.status, ...data.filter((point) => point.met !== null).map(({ id }) => id)]
  }
  await fetch(`${baseUrl}/data-views`, { headers: key })
  expect(await met()).toEqual([409])
  await fetch(`${url}/__emulator/ui/`)
  expect(await met()).toContain('status data-views.list 200')
  await fetch(`${baseUrl}/data-views`)
  expect(await met()).toContain('status data-views.list 401')
})

test('the frame of the page is in its HTML, so that it is drawn before any script', async () => {
  const { url } = await running()
  const html = await (await fetch(`${url}/__emulator/ui/`)).text()
  expect(html).toMatch(/<div class="shell">.*class="navigation".*class="clock-bar".*<main/s)
  expect(html).toMatch(/<link rel="stylesheet" href="style.css" \/>\s*<script type="module"/)
})

test('the page allows only its own scripts, styles and frames', async () => {
  const { url } = await running()
  const policy = (await fetch(`${url}/__emulator/ui/`)).headers.get('content-security-policy') ?? ''
  expect(policy).toContain("default-src 'none'")
  expect(policy).toContain("script-src 'self'")
  expect(policy).toContain("frame-ancestors 'none'")
  expect(policy).not.toContain('unsafe')
})

test.for([
  ['a foreign host', { host: 'evil.example' }],
  ['a page of another site', { origin: 'http://evil.example' }],
] as const)('%s gets neither the page nor a redirect', async ([, headers]) => {
  const { url } = await running()
  for (const path of ['/', '/__emulator/ui/', '/__emulator/ui/main.js'])
    expect((await head(url + path, { accept: 'text/html', ...headers })).status).toBe(403)
})

test.for(['../package.json', '..%2fpackage.json', 'none.js'])(
  '%s is not a file of the dashboard',
  async (name) => {
    const { url } = await running()
    expect((await head(`${url}/__emulator/ui/${name}`, {})).status).toBe(404)
  },
)

test('the first load is at most 60 kB gzipped, and everything together at most 200 kB', () => {
  const names = readdirSync('dist/dashboard')
  const imports = (name: string): string[] => {
    const text = readFileSync(`dist/dashboard/${name}`, 'utf8')
    return [...text.matchAll(/(?:from|^import)"\.\/([\w.-]+)"/g)].map(([, file]) => file as string)
  }
  const first = new Set(['index.html', 'style.css', 'icon.svg', 'main.js'])
  for (const name of first) if (name.endsWith('.js')) for (const file of imports(name)) first.add(file)
  const sum = (files: Iterable<string>) => [...files].reduce((total, name) => total + gzipped(name), 0)
  expect(sum(first)).toBeLessThanOrEqual(60_000)
  expect(sum(names)).toBeLessThanOrEqual(200_000)
})
