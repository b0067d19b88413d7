import { readdirSync, readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { running } from '../cli/running.ts'
import { send } from '../support/send.ts'

const gzipped = (name: string) => gzipSync(readFileSync(`dist/dashboard/${name}`)).length

test('coverage is counted from the first page on, with the requests that the log still has', async () => {
  const { url } = await running({ fixtures: 'demo' })
  const key = { authorization: 'Bearer live_demo_owner' }
  const met = async () => {
    const response = await fetch(`${url}/__emulator/coverage`)
    const { data = [] } = (await response.json()) as { data?: { id: string; met: string | null }[] }
    return [response.status, ...data.filter((point) => point.met !== null).map(({ id }) => id)]
  }
  await fetch(`${url}/v1/data-views`, { headers: key })
  expect(await met()).toEqual([409])
  await fetch(`${url}/__emulator/ui/`)
  expect(await met()).toContain('status data-views.list 200')
  await fetch(`${url}/v1/data-views`)
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

test.for(['../package.json', '..%2fpackage.json', 'none.js'])(
  '%s is no file of the dashboard',
  async (name) => {
    const emulator = await running()
    expect((await send(emulator, 'GET', `/__emulator/ui/${name}`)).status).toBe(404)
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
