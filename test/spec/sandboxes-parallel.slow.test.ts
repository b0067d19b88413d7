import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { KEYS, START } from '../support/base-state.ts'
import { aBatch, batchEmulator } from '../support/batches.ts'
import type { TestEmulator } from '../support/emulator.ts'

const CLIENTS = 100

/** A client with its own sandbox, which it selects by path, header or the suffix of its key, in turn. */
interface Client {
  readonly name: string
  /** The start of its virtual clock, different for each client. */
  readonly clock: string
  api(method: string, path: string, json?: object): Promise<{ status: number; text: string }>
  control(method: string, path: string, json?: object): Promise<{ status: number; text: string }>
}

function clientOf({ emulator }: TestEmulator, n: number): Client {
  const name = `client-${n}`
  const origin = emulator.baseUrl.slice(0, -'/v1'.length)
  const [prefix, header, suffix] =
    [
      [`/@${name}`, '', ''],
      ['', name, ''],
      ['', '', `@${name}`],
    ][n % 3] ?? []
  const send = async (url: string, method: string, token: string, json?: object) => {
    const headers: Record<string, string> = { authorization: `Bearer ${token}` }
    if (header) headers['x-emulator-sandbox'] = header
    if (json !== undefined) headers['content-type'] = 'application/json'
    const response = await fetch(url, {
      method,
      headers,
      ...(json === undefined ? {} : { body: JSON.stringify(json) }),
    })
    return { status: response.status, text: await response.text() }
  }
  return {
    name,
    clock: new Date(Date.parse(START) + n * 3_600_000).toISOString(),
    api: (method, path, json) => send(`${origin}${prefix}/v1${path}`, method, KEYS.KU + suffix, json),
    // A control token is not an API key, so the suffix of a key selects no sandbox here.
    control: (method, path, json) => send(`${origin}/@${name}/__emulator${path}`, method, 'none', json),
  }
}

/** A whole session with pages, a batch and its results. @returns all responses as text */
async function session(client: Client, n: number): Promise<string[]> {
  const seen: string[] = []
  const note = (response: { status: number; text: string }) => {
    seen.push(`${response.status} ${response.text}`)
    return response
  }
  note(await client.api('POST', '/pages', { name: `page of ${client.name}` }))
  const items = Array.from({ length: 20 + n }, (_, index) => ({
    custom_id: `${client.name}-${index}`,
    file_id: 'file-pdf',
  }))
  const { text } = note(await client.api('POST', '/batch-predictions', aBatch({ items })))
  const { id } = JSON.parse(text) as { id: string }
  note(await client.control('POST', '/clock/advance', { until: { batch: id, finished_items: 7 } }))
  note(await client.api('GET', `/batch-predictions/${id}`))
  note(await client.control('POST', '/clock/advance', { until: { batch: id } }))
  note(await client.api('GET', `/batch-predictions/${id}`))
  note(await client.api('GET', `/batch-predictions/${id}/results`))
  note(await client.control('GET', '/state'))
  return seen
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

test('100 clients use 100 sandboxes with separate clocks at once, and each gets the same responses as alone', async () => {
  const emulator = await batchEmulator()
  const clients = Array.from({ length: CLIENTS }, (_, n) => clientOf(emulator, n))
  for (const { name, clock } of [...clients, { name: 'bystander', clock: START }]) {
    expect((await emulator.control('POST', '/sandboxes', { name, clock })).status).toBe(201)
  }
  const bystanders = async () => {
    const states = ['', '/@bystander'].map((prefix) =>
      fetch(`${emulator.baseUrl.slice(0, -'/v1'.length)}${prefix}/__emulator/state`),
    )
    return Promise.all(states.map(async (response) => digest(await (await response).text())))
  }
  const before = await bystanders()

  const together = await Promise.all(clients.map((client, n) => session(client, n)))
  expect(await bystanders()).toEqual(before)

  const elsewhere = await batchEmulator()
  for (const n of [0, 1, 2, 49, 98, 99]) {
    const client = clientOf(elsewhere, n)
    await elsewhere.control('POST', '/sandboxes', { name: client.name, clock: client.clock })
    expect(together[n]).toEqual(await session(client, n))
  }
  for (const [n, seen] of together.entries()) {
    const lines = (seen.at(-2) ?? '').slice('200 '.length).trimEnd().split('\n')
    expect(lines).toHaveLength(20 + n)
    const state = seen.at(-1) ?? ''
    for (const other of ['client-0"', `client-${(n + 1) % CLIENTS}"`]) {
      if (other !== `client-${n}"`) expect(state).not.toContain(`page of ${other}`)
    }
  }
})
