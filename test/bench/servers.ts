import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { Agent } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as nextTry } from 'node:timers/promises'
import { type Shot, shoot } from './load.ts'

/** A server in a separate process. */
export interface Running {
  readonly port: number
  /** Milliseconds from spawning to the first 200. */
  readonly started: number
  /** Resident memory in MiB. */
  memory(): number
  /** Milliseconds of processor time so far, of all threads. */
  processor(): number
  stop(): Promise<void>
}

export const KEY = 'live_bench'

/** A sandbox of one teamspace with a hundred users and a file, and this many pages. */
export function benchFixtures(pages: number): string {
  const at = '2026-01-01T00:00:00.000Z'
  const users = Array.from({ length: 100 }, (_, n) => {
    const name = { first_name: 'First', last_name: `Last ${n}` }
    const email = `user-${n}@example.com`
    return { id: `user-${n}`, organization_id: 'org-1', email, ...name, created_at: at }
  })
  const within = { teamspace_id: 'ts-a', created_at: at }
  const memberships = users.map(({ id }, n) => {
    return { id: `member-${n}`, user_id: id, role: 'member', agent_ids: [], ...within }
  })
  const teamspace = { id: 'ts-a', cloud_provider: 'cloud_b', name: 'A', access: 'closed', created_at: at }
  const key = { id: 'key-1', kind: 'user', token: KEY, user_id: 'user-0', account_admin: true }
  const collections = {
    organizations: [{ id: 'org-1', name: 'Bench' }],
    teamspaces: [{ ...teamspace, _emulator: { organization_id: 'org-1' } }],
    users,
    memberships,
    api_keys: [{ ...key, organization_id: 'org-1', teamspace_id: 'ts-a' }],
    files: [{ id: 'file-1', teamspace_id: 'ts-a', name: 'a.pdf', kind: 'pdf', pages: 10 }],
    pages: Array.from({ length: pages }, (_, n) => {
      return { id: `page-${n}`, name: `Page ${n}`, scope: 'teamspace', ...within }
    }),
  }
  return JSON.stringify({ collections })
}

export function batchBody(items: number): string {
  const properties = { vendor: { type: 'string' }, total: { type: 'number' } }
  return JSON.stringify({
    prompt: 'Read the vendor and the total of the invoice.',
    output_schema: { type: 'object', properties, required: Object.keys(properties) },
    model: 'model-1',
    completion_window: '24h',
    items: Array.from({ length: items }, (_, n) => ({ file_id: 'file-1', custom_id: `invoice-${n}` })),
  })
}

export const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0

export function shotAt({ port }: Pick<Running, 'port'>, method: string, path: string, body?: string): Shot {
  return { port, method, path, key: KEY, ...(body !== undefined && { body }) }
}

/** Sends a request. @returns the text of its response, which has to be a 200 */
export async function ask(shot: Shot, agent = new Agent()): Promise<string> {
  const { status, text } = await shoot(agent, shot)
  if (status !== 200) throw new Error(`${shot.method} ${shot.path} responded with ${status}: ${text}`)
  return text
}

export const say = (what: string, figures: string): void =>
  void process.stdout.write(`${what.padEnd(58)} ${figures}\n`)

/** A folder that is removed when this process ends. */
export function scratch(): string {
  const folder = mkdtempSync(join(tmpdir(), 'workspace-bench-'))
  folders.push(folder)
  return folder
}

const folders: string[] = []
process.once('exit', () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

/** Starts what `npm start` starts: demo, seed 1, durable, on a file. */
export function startDemo(folder: string, cli = 'dist/cli.js'): Promise<Running> {
  const flags = ['start', '--port', '0', '--json', '--data', join(folder, 'data')]
  return start(cli, flags, { path: '/v1/data-views', key: 'live_demo_owner' })
}

/** Starts the emulator as a user does, with fixtures for measurements: bundled, durable, on a file. */
export function startOurs(
  folder: string,
  pages = 0,
  flags: readonly string[] = [],
  cli = 'dist/cli.js',
): Promise<Running> {
  const fixtures = join(folder, 'fixtures.json')
  writeFileSync(fixtures, benchFixtures(pages))
  const sandbox = ['--data', join(folder, 'data'), '--fixtures', fixtures, '--limits', 'off', '--rate', '0']
  return start(cli, ['start', '--port', '0', '--json', '--log-level', 'error', ...sandbox, ...flags])
}

/** Starts the hand-written application that everything is compared with. */
export function startMinimal(): Promise<Running> {
  return start('test/bench/minimal-app.mjs', [])
}

const USERS = { path: '/v1/organization/teamspaces/ts-a/users', key: KEY }

async function start(script: string, flags: readonly string[], first = USERS): Promise<Running> {
  const begin = performance.now()
  const child = spawn(process.execPath, [script, ...flags], { stdio: ['ignore', 'pipe', 'inherit'] })
  const port = await announcedPort(child)
  const { status } = await shoot(new Agent(), { port, method: 'GET', ...first })
  if (status !== 200) throw new Error(`${script} responded to its first request with ${status}`)
  return running(child, port, performance.now() - begin)
}

/** Starts a server that does not report when it is ready: requests `path` until it responds with 200. */
export async function startOnPort(command: readonly string[], port: number, path: string): Promise<Running> {
  const begin = performance.now()
  const child = spawn(process.execPath, command, { stdio: ['ignore', 'ignore', 'inherit'] })
  for (;;) {
    if (child.exitCode !== null) throw new Error(`${command.join(' ')} ended before it responded`)
    const response = await shoot(new Agent(), { port, method: 'GET', path, key: KEY }).catch(() => undefined)
    if (response?.status === 200) return running(child, port, performance.now() - begin)
    if (performance.now() - begin > 30_000)
      throw new Error(`${command.join(' ')} does not respond to ${path}`)
    await nextTry(5)
  }
}

function running(child: ChildProcess, port: number, started: number): Running {
  return {
    port,
    started,
    memory: () =>
      Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1]) / 1024,
    processor: () => processorTime(child.pid),
    stop: () => stop(child),
  }
}

function processorTime(pid = 0): number {
  const nanoseconds = readdirSync(`/proc/${pid}/task`).map((task) =>
    Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'utf8').split(' ')[0]),
  )
  return nanoseconds.reduce((sum, each) => sum + each, 0) / 1e6
}

function announcedPort(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    let text = ''
    child.stdout?.on('data', (chunk) => {
      text += chunk
      const end = text.indexOf('\n')
      if (end !== -1) resolve(Number((JSON.parse(text.slice(0, end)) as { port: number }).port))
    })
    child.once('exit', (code) => reject(new Error(`the server ended with ${code} before it listened`)))
  })
}

function stop(child: ChildProcess): Promise<void> {
  child.kill('SIGTERM')
  return once(child, 'exit').then(() => {})
}
