import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { expect, onTestFinished, test } from 'vitest'
import { aBatch } from '../src/index.ts'
import { HOSTILE_SCHEMAS } from './support/hostile-schemas.ts'

/** Milliseconds between two requests for health. */
const EVERY = 100
/** Milliseconds that the process may work while a request for health waits. */
const MAX_GAP = 300

const JSON_TYPE = { authorization: 'Bearer live_demo_owner', 'content-type': 'application/json' }

/**
 * Milliseconds that the main thread of a process has worked, in steps of 10 ms. Unlike real time, they do not grow when other
 * processes use the machine. Undefined where the system does not tell.
 */
function workOf(pid: number): number | undefined {
  const file = `/proc/${pid}/task/${pid}/stat`
  if (!existsSync(file)) return undefined
  const [user = 0, system = 0] =
    readFileSync(file, 'utf8').split(') ')[1]?.split(' ').slice(11, 13).map(Number) ?? []
  return (user + system) * 10
}

/** Starts the built command with a heap of 1 GB. */
async function started() {
  const argv = [
    '--max-old-space-size=1024',
    'dist/cli.js',
    'start',
    '--port',
    '0',
    '--ephemeral',
    '--json',
    '--rate',
    '0',
  ]
  const child = spawn(process.execPath, argv, { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const [line] = await once(child.stdout, 'data')
  return { url: String(JSON.parse(String(line)).base_url).replace('/v1', ''), pid: child.pid ?? 0 }
}

/** Asks for health again and again until it is stopped. @returns how long the requests waited, in ms of real time and of work */
function watchHealth({ url, pid }: Awaited<ReturnType<typeof started>>) {
  const took: { real: number; work: number }[] = []
  let isOver = false
  const work = (async () => {
    while (!isOver) {
      const [began, before] = [performance.now(), workOf(pid)]
      const { status } = await fetch(`${url}/__emulator/health`)
      expect(status).toBe(200)
      const real = performance.now() - began
      const after = workOf(pid)
      took.push({ real, work: before === undefined || after === undefined ? real : after - before })
      await new Promise((resolve) => setTimeout(resolve, EVERY))
    }
  })()
  return async () => {
    isOver = true
    await work
    return took
  }
}

test('health answers beside hostile schemas, on a heap of 1 GB', async () => {
  const emulator = await started()
  const { url } = emulator
  const ask = async (path: string, body?: unknown) => {
    const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
    const response = await fetch(`${url}${path}`, { headers: JSON_TYPE, ...init })
    return { status: response.status, text: await response.text() }
  }
  // The first request loads Express and the control interface.
  await ask('/__emulator/health')
  let ran = 0
  const late: Record<string, number> = {}
  for (const [name, output_schema] of Object.entries(HOSTILE_SCHEMAS)) {
    const health = watchHealth(emulator)
    const created = await ask('/v1/batch-predictions', aBatch({ output_schema, items: 500 }))
    // Some have no output, which is already known when the batch is created.
    if (created.status >= 300) expect([name, created.status]).toEqual([name, 400])
    else {
      ran += 1
      const { id } = JSON.parse(created.text) as { id: string }
      expect((await ask(`/__emulator/batches/${id}/complete`, {})).status).toBe(200)
      const leaving = new AbortController()
      const results = await fetch(`${url}/v1/batch-predictions/${id}/results`, {
        headers: JSON_TYPE,
        signal: leaving.signal,
      })
      expect(results.status).toBe(200)
      const reader = results.body?.getReader()
      const until = performance.now() + 4_000
      while (performance.now() < until && (await reader?.read())?.done === false);
      leaving.abort()
    }
    const took = await health()
    const most = took.reduce((max, each) => (each.work > max.work ? each : max))
    if (process.env.SHOW_GAPS) console.log(`${name}: ${most.work} ms of work, ${most.real.toFixed(0)} ms`)
    if (most.work > MAX_GAP) late[name] = most.work
  }
  expect(ran).toBeGreaterThan(40)
  expect(late).toEqual({})
}, 600_000)
