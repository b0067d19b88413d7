import { startEmulator } from '../../src/index.ts'
import { median } from './servers.ts'

/**
 * `npx tsx test/bench/transports.ts`: the 20 requests of a typical test with `emulator.fetch`, against the same requests through
 * a socket. Both are in one process, in turns, and each round has a new sandbox.
 */
const [ROUNDS, REQUESTS, WARM_UP] = [100, 20, 20]
const HEADERS = { authorization: 'Bearer live_demo_owner', 'content-type': 'application/json' }

const [direct, socket] = [
  await startEmulator({ listen: false, ephemeral: true }),
  await startEmulator({ port: 0, ephemeral: true }),
]

type Send = (url: string, init: RequestInit) => Promise<Response>

/** Half of the requests create a page, the others list data views. @returns milliseconds */
async function oneTest(send: Send, base: string): Promise<number> {
  const begin = performance.now()
  for (let n = 0; n < REQUESTS; n++) {
    const response =
      n % 2 === 0
        ? await send(`${base}/pages`, { method: 'POST', headers: HEADERS, body: '{"name":"Roof plan"}' })
        : await send(`${base}/data-views`, { headers: HEADERS })
    if (response.status !== 200) throw new Error(`the response was ${response.status}`)
    await response.json()
  }
  return performance.now() - begin
}

const times = { fetch: [] as number[], socket: [] as number[] }
for (let round = 0; round < ROUNDS + WARM_UP; round++) {
  const [here, there] = [await direct.sandbox(`r${round}`), await socket.sandbox(`r${round}`)]
  const figures = {
    fetch: await oneTest((url, init) => direct.fetch(new Request(url, init)), here.baseUrl),
    socket: await oneTest(fetch, there.baseUrl),
  }
  if (round < WARM_UP) continue
  times.fetch.push(figures.fetch)
  times.socket.push(figures.socket)
}
const spread = (list: readonly number[]) => {
  const order = [...list].sort((a, b) => a - b)
  return `${median(list).toFixed(1)} ms (quarters ${order[list.length >> 2]?.toFixed(1)} and ${order[(list.length * 3) >> 2]?.toFixed(1)})`
}
process.stdout.write(
  `${REQUESTS} requests in one test, ${ROUNDS} rounds: fetch ${spread(times.fetch)}, socket ${spread(times.socket)}, ratio ${(median(times.fetch) / median(times.socket)).toFixed(2)}\n`,
)
await Promise.all([direct.close(), socket.close()])
