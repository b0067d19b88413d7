import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { connect } from '../src/index.ts'
import { freePort } from './support/free-port.ts'

// The configuration of the page is run in front of three emulators.

const NAMES = Array.from({ length: 60 }, (_, n) => `w${n}`)

function configuration(ports: readonly number[], listen: number, folder: string): string {
  const page = readFileSync('docs/guide/many-machines.md', 'utf8')
  const [, written = ''] = /```nginx\n([\s\S]*?)```/.exec(page) ?? []
  const changed = [4011, 4012, 4013, 4010].reduce(
    (text, port, n) => text.replaceAll(`:${port}`, `:${[...ports, listen][n]}`),
    written,
  )
  const kinds = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  const paths = kinds.map((each) => `${each}_temp_path ${join(folder, each)};`).join('\n')
  return `pid ${join(folder, 'pid')};\nevents {}\nhttp {\naccess_log off;\n${paths}\n${changed}}\n`
}

async function balanced() {
  const folder = mkdtempSync(join(tmpdir(), 'many-'))
  const children: ChildProcess[] = []
  onTestFinished(async () => {
    // The master of nginx ends its workers only on a signal that it can handle.
    for (const child of children) child.kill('SIGTERM')
    await Promise.all(children.map((each) => each.exitCode ?? each.signalCode ?? once(each, 'exit')))
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  })
  const [port, ...ports] = [await freePort(), await freePort(), await freePort(), await freePort()]
  const start = async (n: number) => {
    const argv = ['start', '--port', String(ports[n]), '--data', join(folder, `data-${n}`), '--json']
    const child = spawn(process.execPath, ['dist/cli.js', ...argv, '--allow-host', `127.0.0.1:${port}`], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    children.push(child)
    await once(child.stdout, 'data')
    return child
  }
  const running = [await start(0), await start(1), await start(2)]
  const file = join(folder, 'nginx.conf')
  mkdirSync(join(folder, 'logs'))
  writeFileSync(file, configuration(ports, port, folder))
  const argv = ['-p', folder, '-c', file, '-e', join(folder, 'logs', 'error.log')]
  execFileSync('nginx', [...argv, '-t'], { stdio: 'ignore' })
  children.push(spawn('nginx', [...argv, '-g', 'daemon off;'], { stdio: 'inherit' }))
  const url = `http://127.0.0.1:${port}`
  await connect(url).ready()
  return { url, running, start, direct: ports.map((each) => `http://127.0.0.1:${each}`) }
}

const WAYS = {
  path: (name: string) => ({ prefix: `/@${name}`, headers: { authorization: 'Bearer live_demo_owner' } }),
  header: (name: string) => ({
    prefix: '',
    headers: { authorization: 'Bearer live_demo_owner', 'x-emulator-sandbox': name },
  }),
  key: (name: string) => ({ prefix: '', headers: { authorization: `Bearer live_demo_owner@${name}` } }),
}

function pagesOf(url: string, name: string, way: keyof typeof WAYS) {
  const { prefix, headers } = WAYS[way](name)
  const at = `${url}${prefix}/v1/pages`
  return async (body?: object): Promise<Response> =>
    fetch(at, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
}

async function sandboxesAt(url: string): Promise<string[]> {
  const all = await connect(url).sandboxes.list()
  return all.map(({ name }) => name).filter((name) => name !== 'default')
}

async function pagesIn(url: string, name: string): Promise<string[]> {
  const rows = await connect(url)
    .sandbox(name)
    .then((sandbox) => sandbox.state.list('pages'))
  return rows.map((row) => String(row.name)).filter((each) => each.startsWith('by '))
}

test('a balancer keeps each sandbox on one emulator, and one that ends with kill -9 takes only its own along', async () => {
  const { url, direct, running, start } = await balanced()
  const emulator = connect(url)
  for (const name of NAMES) await emulator.sandbox(name, { persist: true })
  for (const name of NAMES)
    for (const way of ['path', 'header', 'key'] as const)
      expect((await pagesOf(url, name, way)({ name: `by ${way}` })).status).toBe(200)

  const before = await Promise.all(direct.map(sandboxesAt))
  expect(before.flat().toSorted()).toEqual(NAMES.toSorted())
  expect(before.map((each) => each.length > 5)).toEqual([true, true, true])
  for (const name of NAMES) expect(await pagesIn(url, name)).toEqual(['by path', 'by header', 'by key'])

  running[1]?.kill('SIGKILL')
  await once(running[1] as ChildProcess, 'exit')
  const away = new Set(before[1])
  const statuses = await Promise.all(
    NAMES.map(async (name) => [name, (await pagesOf(url, name, 'key')({ name: 'by later' })).status]),
  )
  expect(statuses).toEqual(NAMES.map((name) => [name, away.has(name) ? 502 : 200]))

  await start(1)
  for (const name of NAMES) {
    const later = away.has(name) ? [] : ['by later']
    expect([name, await pagesIn(url, name)]).toEqual([name, ['by path', 'by header', 'by key', ...later]])
  }
  const after = await Promise.all(direct.map(sandboxesAt))
  expect(after.map((each) => each.toSorted())).toEqual(before.map((each) => each.toSorted()))
})

test('the command and the library create, show and delete a sandbox where its requests go', async () => {
  const { url, direct } = await balanced()
  const emulator = connect(url)
  const command = (...argv: string[]) =>
    execFileSync(process.execPath, ['dist/cli.js', ...argv, '--url', url, '--json'], { encoding: 'utf8' })
  for (const name of NAMES.slice(0, 6)) {
    command('sandbox', 'create', name)
    expect((await emulator.sandboxes.show(name)).name).toBe(name)
    expect((await pagesOf(url, name, 'path')({ name: 'by path' })).status).toBe(200)
  }
  const places = (await Promise.all(direct.map(sandboxesAt))).flat()
  expect(places.toSorted()).toEqual(NAMES.slice(0, 6).toSorted())
  for (const name of NAMES.slice(0, 3)) command('sandbox', 'delete', name)
  for (const name of NAMES.slice(3, 6)) await emulator.sandboxes.delete(name)
  expect((await Promise.all(direct.map(sandboxesAt))).flat()).toEqual([])
})
