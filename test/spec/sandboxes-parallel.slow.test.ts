import { expect, test } from 'vitest'
import { KEYS, START } from '../support/base-state.ts'
import { aBatch, batchEmulator } from '../support/batches.ts'
import type { TestEmulator } from '../support/emulator.ts'
import { send } from '../support/send.ts'

const CLIENTS = 100

/** Creates the sandbox of the client number n. */
async function sandboxOf({ control }: TestEmulator, n: number): Promise<void> {
  // The clock of each client has another start.
  const clock = new Date(Date.parse(START) + n * 3_600_000).toISOString()
  expect((await control('POST', '/sandboxes', { name: `client-${n}`, clock })).status).toBe(201)
}

/** A session of the client number n, which selects its sandbox by path, header or key. @returns all responses as text */
async function session(emulator: TestEmulator, n: number): Promise<string[]> {
  const name = `client-${n}`
  const prefix = n % 3 === 0 ? `/@${name}` : ''
  const headers: Record<string, string> = n % 3 === 1 ? { 'x-emulator-sandbox': name } : {}
  const authorization = `Bearer ${KEYS.KU}${n % 3 === 2 ? `@${name}` : ''}`
  const seen: string[] = []
  const note = ({ status, text }: { status: number; text: string }) => {
    seen.push(`${status} ${text}`)
    return text
  }
  const api = async (method: string, path: string, json?: object) =>
    note(await send(emulator, method, `${prefix}/v1${path}`, { headers, authorization, json }))
  const control = async (method: string, path: string, json?: object) =>
    note(await send(emulator, method, `/@${name}/__emulator${path}`, { json }))
  await api('POST', '/pages', { name: `page of ${name}` })
  const items = Array.from({ length: 20 + n }, (_, index) => ({
    custom_id: `${name}-${index}`,
    file_id: 'file-pdf',
  }))
  const { id } = JSON.parse(await api('POST', '/batch-predictions', aBatch({ items })))
  for (const until of [{ batch: id, finished_items: 7 }, { batch: id }]) {
    await control('POST', '/clock/advance', { until })
    await api('GET', `/batch-predictions/${id}`)
  }
  await api('GET', `/batch-predictions/${id}/results`)
  await control('GET', '/state')
  return seen
}

test('100 clients use 100 sandboxes with separate clocks at once, and each gets the same responses as alone', async () => {
  const emulator = await batchEmulator()
  for (let n = 0; n < CLIENTS; n++) await sandboxOf(emulator, n)
  await emulator.control('POST', '/sandboxes', { name: 'bystander' })
  const bystanders = async () => [
    (await emulator.control('GET', '/state')).body,
    (await emulator.in('bystander')('GET', '/state')).body,
  ]
  const before = await bystanders()
  const together = await Promise.all(Array.from({ length: CLIENTS }, (_, n) => session(emulator, n)))
  expect(await bystanders()).toEqual(before)

  const elsewhere = await batchEmulator()
  for (const n of [0, 1, 2, 49, 98, 99]) {
    await sandboxOf(elsewhere, n)
    expect(together[n]).toEqual(await session(elsewhere, n))
  }
  for (const [n, seen] of together.entries()) {
    const [results = '', state = ''] = seen.slice(-2)
    expect(results.trimEnd().split('\n')).toHaveLength(20 + n)
    expect([...state.matchAll(/page of client-\d+/g)].map(String)).toEqual([`page of client-${n}`])
  }
})
