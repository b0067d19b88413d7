// Tests that take five seconds, of a client with one bug: it makes a new idempotency key for each attempt.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'

const { WORKSPACE_BASE_URL: base, WORKSPACE_API_KEY: key } = process.env
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

async function call(method, path, body, headers = () => ({})) {
  for (let attempt = 0; ; attempt++) {
    const response = await fetch(base + path, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers() },
      body: body && JSON.stringify(body),
      signal: AbortSignal.timeout(2_000),
    }).catch(() => undefined)
    const text = await response?.text().catch(() => undefined)
    if (response?.ok && text !== undefined) return JSON.parse(text)
    const mayRepeat = response === undefined || response.status === 429 || response.status >= 500
    if (!mayRepeat || attempt === 2) throw new Error(`${method} ${path}: status ${response?.status}`)
    await pause(Number(response?.headers.get('retry-after') ?? 2 ** attempt) * 1_000 + 20)
  }
}

const began = performance.now()
assert.ok(Array.isArray((await call('GET', '/data-views')).data))
assert.ok(Array.isArray((await call('GET', '/agents')).data))
const batch = {
  prompt: 'Read the total.',
  output_schema: { type: 'object' },
  model: 'any-model',
  items: [{ custom_id: 'a', file_id: 'file-invoice-1' }],
}
const created = await call('POST', '/batch-predictions', batch, () => ({ 'idempotency-key': randomUUID() }))
assert.equal((await call('GET', `/batch-predictions/${created.id}`)).id, created.id)
await pause(Math.max(0, 5_000 - (performance.now() - began)))
