import { expect, test } from 'vitest'
import { aBatch, batchEmulator } from '../../support/batches.ts'
import type { TestEmulator } from '../../support/emulator.ts'
import { mountPath } from '../../support/transport.ts'
import { webhookReceiver } from '../../support/webhook-receiver.ts'

const BATCHES = '/v1/batch-predictions'
const WAYS = ['path', 'header', 'token'] as const

type Way = (typeof WAYS)[number]

/** Calls the API in a sandbox that is chosen in one of the ways. */
async function call(emulator: TestEmulator, way: Way, name: string, path: string, json?: object) {
  const headers = {
    authorization: `Bearer live_owner${way === 'token' ? `@${name}` : ''}`,
    ...(way === 'header' && { 'x-emulator-sandbox': name }),
    ...(json && { 'content-type': 'application/json' }),
  }
  const target = way === 'path' && path.startsWith('/v1') ? `/@${name}${path}` : path
  const body = json && JSON.stringify(json)
  const { status, text } = await emulator.send(target, { method: json ? 'POST' : 'GET', headers, body })
  expect([target, status]).toEqual([target, 200])
  return text
}

const created = async (emulator: TestEmulator, way: Way): Promise<string> =>
  JSON.parse(await call(emulator, way, 'w1', BATCHES, aBatch())).id

test.for(WAYS.flatMap((making) => WAYS.map((reading) => [making, reading] as const)))(
  'results_url of a batch created by %s and read by %s leads to its results',
  { tags: ['T29'] },
  async ([making, reading]) => {
    const emulator = await batchEmulator()
    const id = await created(emulator, making)
    await emulator.in('w1')('POST', '/clock/advance', { by: '1h' })
    const { results_url } = JSON.parse(await call(emulator, reading, 'w1', `${BATCHES}/${id}`))
    const isInPath = [making, reading].includes('path')
    expect(results_url).toBe(`${mountPath()}${isInPath ? '/@w1' : ''}${BATCHES}/${id}/results`)
    // Clients choose the sandbox as in the request before, unless the URL does.
    expect(await call(emulator, isInPath ? 'path' : reading, 'w1', results_url)).toContain(id)
  },
)

test.for(['path', 'header'] as const)(
  'results_url of a batch created by %s leads into the fork',
  { tags: ['T29'] },
  async (way) => {
    const emulator = await batchEmulator()
    const receiver = await webhookReceiver()
    const old = await created(emulator, way)
    await emulator.in('w1')('POST', '/clock/advance', { by: '1h' })
    const id = await created(emulator, way)
    await emulator.in('w1')('POST', '/webhooks', { url: receiver.url })
    await emulator.in('w1')('POST', '/snapshots', { name: 'base' })
    await emulator.in('w1')('POST', '/sandboxes', { name: 'w2', from_snapshot: 'base' })
    await emulator.in('w2')('POST', '/clock/advance', { by: '1h' })
    const urlOf = (each: string) => `${mountPath()}${way === 'path' ? '/@w2' : ''}${BATCHES}/${each}/results`
    for (const each of [old, id]) {
      const { results_url } = JSON.parse(await call(emulator, way, 'w2', `${BATCHES}/${each}`))
      expect(results_url).toBe(urlOf(each))
    }
    expect(receiver.received.map(({ body }) => body.results_url)).toEqual([urlOf(id)])
  },
)
