import { type ChildProcess, spawn } from 'node:child_process'
import { readdirSync, writeFileSync } from 'node:fs'
import { Agent, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { Chance } from '../../src/kernel/random.ts'
import { shoot } from '../bench/load.ts'
import { benchFixtures, KEY, scratch } from '../bench/servers.ts'

/** What some rounds of killing showed. Everything but the first three has to be 0. */
export interface KillReport {
  readonly rounds: number
  readonly acknowledged: number
  /** Rounds in which the kill met a checkpoint being written. */
  readonly insideCheckpoint: number
  /** Acknowledged pages that are not there after a restart. */
  readonly lost: number
  /** Idempotency keys that made a second batch after a restart. */
  readonly doubled: number
  /** Batches that were acknowledged to be terminal and of which no webhook has arrived, whatever came between. */
  readonly untold: number
  /** Snapshots that were acknowledged and cannot be restored. */
  readonly unrestorable: number
  /** Restarts that said that a file was unreadable. */
  readonly unreadable: number
}

/** Everything that was acknowledged. Ids are those of their sandbox, so that each stands behind its path prefix. */
interface Acknowledged {
  readonly pages: Set<string>
  /** The batch that each idempotency key made. */
  readonly batches: Map<string, string>
  readonly terminal: Set<string>
  readonly snapshots: Set<string>
}

interface Server {
  readonly child: ChildProcess
  readonly port: number
  readonly said: () => string
}

/** Two clients write to the default sandbox, two to one that persists beside it. */
const PREFIXES = ['', '', '/@kept', '/@kept']
const BODY = {
  prompt: 'p',
  output_schema: { type: 'object', properties: {} },
  model: 'm',
  completion_window: '24h',
  items: [{ file_id: 'file-1', custom_id: 'only' }],
}

/**
 * Starts the built emulator on one data directory, lets clients write, ends it with SIGKILL at a random moment, starts it
 * again and looks for every write that was acknowledged.
 * @param rounds how often; each takes about a third of a second
 */
export async function killRounds(rounds: number, seed = 1): Promise<KillReport> {
  const chance = new Chance(seed, 'kill')
  const folder = scratch()
  writeFileSync(join(folder, 'fixtures.json'), benchFixtures(0))
  const receiver = await openReceiver()
  await prepare(folder, receiver.url)
  const known: Acknowledged = {
    pages: new Set(),
    batches: new Map(),
    terminal: new Set(),
    snapshots: new Set(),
  }
  let insideCheckpoint = 0
  for (let round = 0; round < rounds; round++) {
    const server = await start(folder)
    const writing = Promise.all(
      PREFIXES.map((prefix, writer) => write(server, prefix, `${round}-${writer}`, known)),
    )
    await pause(chance.int(5, 150))
    server.child.kill('SIGKILL')
    await writing
    await gone(server.child)
    if (temporaryFile(folder)) insideCheckpoint += 1
  }
  const last = await start(folder)
  const acknowledged = known.pages.size + known.batches.size + known.terminal.size
  const found = await compare(last, known, receiver.told)
  const unreadable = /corrupt|orphan/i.test(last.said()) ? 1 : 0
  last.child.kill('SIGTERM')
  await gone(last.child)
  receiver.close()
  return { rounds, acknowledged, insideCheckpoint, ...found, unreadable }
}

/** Makes the sandbox that persists, and subscribes a receiver in both. */
async function prepare(folder: string, url: string): Promise<void> {
  const server = await start(folder)
  const agent = new Agent({ keepAlive: true })
  await post(agent, server, '/__emulator/sandboxes', { name: 'kept', persist: true })
  for (const prefix of new Set(PREFIXES)) await post(agent, server, `${prefix}/__emulator/webhooks`, { url })
  agent.destroy()
  server.child.kill('SIGTERM')
  await gone(server.child)
}

async function write(server: Server, prefix: string, name: string, known: Acknowledged): Promise<void> {
  const agent = new Agent({ keepAlive: true })
  try {
    for (let n = 0; ; n++) await writeOne(agent, server, prefix, `${name}-${n}`, n % 20, known)
  } catch {
    // The server is gone: what was under way was not acknowledged.
    agent.destroy()
  }
}

async function writeOne(
  agent: Agent,
  server: Server,
  prefix: string,
  name: string,
  turn: number,
  known: Acknowledged,
): Promise<void> {
  if (turn === 19) {
    // A few names, so that files are replaced as well.
    const snapshot = `s-${known.snapshots.size % 20}`
    await post(agent, server, `${prefix}/__emulator/snapshots`, { name: snapshot })
    known.snapshots.add(`${prefix}/__emulator/snapshots/${snapshot}`)
  } else if (turn % 10 === 8) {
    const { id } = await post(agent, server, `${prefix}/v1/batch-predictions`, BODY, name)
    known.batches.set(`${prefix} ${name}`, id)
    await post(agent, server, `${prefix}/__emulator/batches/${id}/complete`)
    known.terminal.add(`${prefix}/v1/batch-predictions/${id}/results`)
  } else {
    const { id } = await post(agent, server, `${prefix}/v1/pages`, { name })
    known.pages.add(`${prefix} ${id}`)
  }
}

async function post(
  agent: Agent,
  { port }: Server,
  path: string,
  body: object = {},
  key?: string,
): Promise<{ id: string }> {
  const headers = key === undefined ? {} : { 'idempotency-key': key }
  const shot = { port, method: 'POST', path, key: KEY, body: JSON.stringify(body), headers }
  const { status, text } = await shoot(agent, shot, true)
  if (status >= 300) throw new Error(`POST ${path} answered ${status}: ${text}`)
  return JSON.parse(text) as { id: string }
}

/** Looks for everything that was acknowledged, once nothing is left to be sent. */
async function compare(server: Server, known: Acknowledged, told: ReadonlySet<string>) {
  const agent = new Agent({ keepAlive: true })
  const there = new Set<string>()
  for (const prefix of new Set(PREFIXES)) {
    await post(agent, server, `${prefix}/__emulator/clock/advance`, { by: '0s' })
    for (const id of await pagesOf(agent, server, prefix)) there.add(`${prefix} ${id}`)
  }
  let doubled = 0
  for (const [name, id] of known.batches) {
    const [prefix = '', key] = name.split(' ')
    const again = await post(agent, server, `${prefix}/v1/batch-predictions`, BODY, key)
    if (again.id !== id) doubled += 1
  }
  let unrestorable = 0
  for (const path of known.snapshots) {
    await post(agent, server, `${path}/restore`).catch(() => {
      unrestorable += 1
    })
  }
  agent.destroy()
  return {
    lost: [...known.pages].filter((page) => !there.has(page)).length,
    doubled,
    untold: [...known.terminal].filter((results) => !told.has(results)).length,
    unrestorable,
  }
}

async function pagesOf(agent: Agent, { port }: Server, prefix: string): Promise<string[]> {
  const shot = { port, method: 'GET', path: `${prefix}/__emulator/state/pages`, key: KEY }
  const { text } = await shoot(agent, shot, true)
  return (JSON.parse(text) as { data: { id: string }[] }).data.map(({ id }) => id)
}

/** Takes webhooks, and remembers by its results which batch each was about. */
async function openReceiver() {
  const told = new Set<string>()
  const server = createServer((req, res) => {
    let text = ''
    req.on('data', (chunk) => {
      text += chunk
    })
    req.on('end', () => {
      told.add((JSON.parse(text) as { results_url: string }).results_url)
      res.end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const close = (): void => {
    server.closeAllConnections()
    server.close()
  }
  return { url: `http://127.0.0.1:${port}/`, told, close }
}

async function start(folder: string): Promise<Server> {
  const world = ['--data', join(folder, 'data'), '--fixtures', join(folder, 'fixtures.json')]
  const flags = ['--port', '0', '--json', '--limits', 'off', '--rate', '0', '--clock', '2026-03-01T12:00:00Z']
  const child = spawn(process.execPath, ['dist/cli.js', 'start', ...flags, ...world], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let errors = ''
  child.stderr?.on('data', (chunk) => {
    errors += chunk
  })
  const port = await new Promise<number>((resolve, reject) => {
    let text = ''
    child.stdout?.on('data', (chunk) => {
      text += chunk
      if (text.includes('\n')) resolve((JSON.parse(text) as { port: number }).port)
    })
    child.once('exit', (code) => reject(new Error(`the emulator ended with ${code}: ${errors}`)))
  })
  return { child, port, said: () => errors }
}

function gone(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve()
  return new Promise((resolve) => child.once('exit', () => resolve()))
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

function temporaryFile(folder: string): boolean {
  return readdirSync(join(folder, 'data'), { recursive: true }).some((name) => String(name).includes('.tmp'))
}
