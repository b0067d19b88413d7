import { type ChildProcess, spawn } from 'node:child_process'
import { readdirSync, writeFileSync } from 'node:fs'
import { Agent } from 'node:http'
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
  /** Restarts that said that a file was unreadable. */
  readonly unreadable: number
}

interface Server {
  readonly child: ChildProcess
  readonly port: number
  readonly said: () => string
}

const WRITERS = 4
const BODY = JSON.stringify({
  prompt: 'p',
  output_schema: { type: 'object', properties: {} },
  model: 'm',
  completion_window: '24h',
  items: [{ file_id: 'file-1', custom_id: 'only' }],
})

/**
 * Starts the built emulator on one data directory, lets clients write, ends it with SIGKILL at a random moment, starts it
 * again and looks for every write that was acknowledged.
 * @param rounds how often; each takes about a third of a second
 */
export async function killRounds(rounds: number, seed = 1): Promise<KillReport> {
  const chance = new Chance(seed, 'kill')
  const folder = scratch()
  writeFileSync(join(folder, 'fixtures.json'), benchFixtures(0))
  const report = { rounds, acknowledged: 0, insideCheckpoint: 0, lost: 0, doubled: 0, unreadable: 0 }
  const pages = new Set<string>()
  const batches = new Map<string, string>()
  for (let round = 0; round < rounds; round++) {
    const server = await start(folder)
    const writing = Promise.all(
      Array.from({ length: WRITERS }, (_, writer) => write(server, `${round}-${writer}`, pages, batches)),
    )
    await pause(chance.int(5, 150))
    server.child.kill('SIGKILL')
    await writing
    await gone(server.child)
    if (temporaryFile(folder)) report.insideCheckpoint += 1
  }
  const last = await start(folder)
  report.acknowledged = pages.size + batches.size
  report.lost = await countLost(last, pages)
  report.doubled = await countDoubled(last, batches)
  if (/corrupt|orphan/i.test(last.said())) report.unreadable += 1
  last.child.kill('SIGTERM')
  await gone(last.child)
  return report
}

async function write(
  { port }: Server,
  name: string,
  pages: Set<string>,
  batches: Map<string, string>,
): Promise<void> {
  const agent = new Agent({ keepAlive: true })
  for (let n = 0; ; n++) {
    try {
      if (n % 10 === 9) {
        const key = `key-${name}-${n}`
        const { id } = await post(agent, port, '/v1/batch-predictions', BODY, key)
        batches.set(key, id)
      } else {
        const { id } = await post(agent, port, '/v1/pages', JSON.stringify({ name: `${name}-${n}` }))
        pages.add(id)
      }
    } catch {
      // The server is gone: what was under way was not acknowledged.
      agent.destroy()
      return
    }
  }
}

async function post(
  agent: Agent,
  port: number,
  path: string,
  body: string,
  key?: string,
): Promise<{ id: string }> {
  const headers = key === undefined ? {} : { 'idempotency-key': key }
  const { status, text } = await shoot(agent, { port, method: 'POST', path, key: KEY, body, headers }, true)
  if (status !== 200) throw new Error(`POST ${path} answered ${status}: ${text}`)
  return JSON.parse(text) as { id: string }
}

async function countLost({ port }: Server, pages: ReadonlySet<string>): Promise<number> {
  const shot = { port, method: 'GET', path: '/__emulator/state/pages', key: KEY }
  const { text } = await shoot(new Agent(), shot, true)
  const there = new Set((JSON.parse(text) as { data: { id: string }[] }).data.map(({ id }) => id))
  return [...pages].filter((id) => !there.has(id)).length
}

async function countDoubled({ port }: Server, batches: ReadonlyMap<string, string>): Promise<number> {
  const agent = new Agent({ keepAlive: true })
  let doubled = 0
  for (const [key, id] of batches) {
    if ((await post(agent, port, '/v1/batch-predictions', BODY, key)).id !== id) doubled += 1
  }
  agent.destroy()
  return doubled
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
  return readdirSync(join(folder, 'data')).some((name) => name.includes('.tmp'))
}
