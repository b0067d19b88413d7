import { expect, test } from 'vitest'
import { aBatch, batchEmulator } from '../../support/batches.ts'
import type { TestEmulator } from '../../support/emulator.ts'
import { mountPath } from '../../support/transport.ts'
import { webhookReceiver } from '../../support/webhook-receiver.ts'

/** The ways to choose the sandbox `w1`. */
const WAYS = ['path', 'header', 'token'] as const

type Way = (typeof WAYS)[number]

/** Calls the API in a sandbox. */
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
  return { url: new URL(mountPath() + target, emulator.baseUrl), text }
}

async function completed(emulator: TestEmulator, way: Way): Promise<string> {
  const { text } = await call(emulator, way, 'w1', '/v1/batch-predictions', aBatch())
  await emulator.in('w1')('POST', '/clock/advance', { by: '1h' })
  return JSON.parse(text).id
}

test.for(WAYS.flatMap((created) => WAYS.map((read) => [created, read] as const)))(
  'results_url of a batch created by %s and read by %s leads to its results',
  { tags: ['T29'] },
  async ([created, read]) => {
    const emulator = await batchEmulator()
    const id = await completed(emulator, created)
    const { url, text } = await call(emulator, read, 'w1', `/v1/batch-predictions/${id}`)
    const { results_url } = JSON.parse(text)
    expect(results_url).toBe(
      `${mountPath()}${[created, read].includes('path') ? '/@w1' : ''}/v1/batch-predictions/${id}/results`,
    )
    // Clients resolve it against the URL of the request, and choose the sandbox as in that request.
    const followed = new URL(results_url, url).pathname
    const way = followed.startsWith(`${mountPath()}/@`) ? 'path' : read
    expect((await call(emulator, way, 'w1', followed)).text).toContain(id)
  },
)

test.for(['path', 'header'] as const)(
  'results_url of a batch created by %s leads into the fork',
  { tags: ['T29'] },
  async (way) => {
    const emulator = await batchEmulator()
    const receiver = await webhookReceiver()
    const old = await completed(emulator, way)
    const { text } = await call(emulator, way, 'w1', '/v1/batch-predictions', aBatch())
    const { id } = JSON.parse(text)
    await emulator.in('w1')('POST', '/webhooks', { url: receiver.url })
    await emulator.in('w1')('POST', '/snapshots', { name: 'base' })
    await emulator.in('w1')('POST', '/sandboxes', { name: 'w2', from_snapshot: 'base' })
    await emulator.in('w2')('POST', '/clock/advance', { by: '1h' })
    const prefix = mountPath() + (way === 'path' ? '/@w2' : '')
    for (const each of [old, id]) {
      const { text } = await call(emulator, way, 'w2', `/v1/batch-predictions/${each}`)
      expect(JSON.parse(text).results_url).toBe(`${prefix}/v1/batch-predictions/${each}/results`)
    }
    expect(receiver.received.map(({ body }) => body.results_url)).toEqual([
      `${prefix}/v1/batch-predictions/${id}/results`,
    ])
  },
)
