import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, onTestFinished, test } from 'vitest'
import { aBatch } from '../src/index.ts'
import { HOSTILE_SCHEMAS } from './support/hostile-schemas.ts'

/** Milliseconds between two requests for health. */
const EVERY = 100
/** Milliseconds that a request for health may take. On a busy machine it may take more, as it does while nothing else happens. */
const MAX_GAP = 300

const JSON_TYPE = { authorization: 'Bearer live_demo_owner', 'content-type': 'application/json' }

/** Starts the built command with a heap of 1 GB. @returns its address */
async function started(): Promise<string> {
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
  return String(JSON.parse(String(line)).base_url).replace('/v1', '')
}

/** Asks for health again and again until it is stopped. @returns how long the requests took, in ms, in order */
function watchHealth(url: string) {
  const took: number[] = []
  let isOver = false
  const work = (async () => {
    while (!isOver) {
      const began = performance.now()
      const { status } = await fetch(`${url}/__emulator/health`)
      expect(status).toBe(200)
      took.push(performance.now() - began)
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
  const url = await started()
  const ask = async (path: string, body?: unknown) => {
    const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
    const response = await fetch(`${url}${path}`, { headers: JSON_TYPE, ...init })
    return { status: response.status, text: await response.text() }
  }
  // The first request loads Express and the control interface.
  await ask('/__emulator/health')
  const idle = watchHealth(url)
  await new Promise((resolve) => setTimeout(resolve, 3_000))
  const baseline = Math.max(...(await idle()))
  let ran = 0
  const late: Record<string, number> = {}
  for (const [name, output_schema] of Object.entries(HOSTILE_SCHEMAS)) {
    const health = watchHealth(url)
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
    const most = Math.max(...took)
    if (process.env.SHOW_GAPS) console.log(`${name}: longest ${most.toFixed(0)} ms of ${took.length}`)
    if (most > MAX_GAP + 3 * baseline) late[name] = Math.round(most)
  }
  expect(ran).toBeGreaterThan(40)
  expect(late, `longest while idle: ${baseline.toFixed(0)} ms`).toEqual({})
}, 600_000)
