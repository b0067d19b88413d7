// An adapter for the global `fetch` of Node, used as its documentation shows: no retries, and a signal as the time-out.
import { createInterface } from 'node:readline'

const { WORKSPACE_BASE_URL: base, WORKSPACE_API_KEY: key } = process.env

/** `fetch` rejects when a connection breaks, not for a status. */
async function send(path, { timeout, ...init }) {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...init.headers }
  const response = await fetch(base + path, { ...init, headers, signal: AbortSignal.timeout(timeout) })
  const { ok, status, statusText } = response
  if (!ok) throw Object.assign(new Error(`${status} ${statusText}`), { status })
  return response
}

const get = async (path, timeout) => (await send(path, { timeout })).json()

async function listAll({ teamspace_id, limit, timeout_ms }) {
  const users = []
  for (let after = '', page = { has_more: true }; page.has_more; ) {
    page = await get(`/organization/teamspaces/${teamspace_id}/users?limit=${limit}${after}`, timeout_ms)
    users.push(...page.data)
    const last = page.data.at(-1)
    if (last !== undefined) after = `&after=${last.id}`
  }
  return users
}

async function wait({ batch_id, interval_ms, give_up_ms, timeout_ms }) {
  for (let left = give_up_ms; left > 0; left -= interval_ms) {
    const batch = await get(`/batch-predictions/${batch_id}`, timeout_ms)
    if (['completed', 'failed', 'expired', 'cancelled'].includes(batch.status)) return batch
    await new Promise((resolve) => setTimeout(resolve, interval_ms))
  }
  throw Object.assign(new Error('still not terminal'), { name: 'TimeoutError' })
}

async function results({ batch_id, timeout_ms }) {
  const response = await send(`/batch-predictions/${batch_id}/results`, { timeout: timeout_ms })
  const lines = (await response.text()).split('\n').filter((line) => line.trim() !== '')
  return lines.map((line) => JSON.parse(line))
}

const post = async (path, body, timeout, headers = {}) =>
  (await send(path, { method: 'POST', body, headers, timeout, duplex: 'half' })).json()

const commands = {
  get: ({ batch_id, timeout_ms }) => get(`/batch-predictions/${batch_id}`, timeout_ms),
  list_all: listAll,
  wait,
  results,
  create_batch: ({ body, idempotency_key: id, timeout_ms }) =>
    post('/batch-predictions', JSON.stringify(body), timeout_ms, id && { 'idempotency-key': id }),
  upload: ({ name, timeout_ms }) => post('/pages', new Blob([JSON.stringify({ name })]).stream(), timeout_ms),
  cancel: ({ batch_id, timeout_ms }) => post(`/batch-predictions/${batch_id}/cancel`, undefined, timeout_ms),
}

const KINDS = { 403: 'forbidden', 404: 'not_found', 409: 'conflict', 410: 'gone', 429: 'rate_limited' }

function errorOf({ status, name, message, cause }) {
  if (status !== undefined)
    return { error: { kind: status >= 500 ? 'server' : (KINDS[status] ?? 'invalid'), status, message } }
  const kinds = { TimeoutError: 'timeout', SyntaxError: 'malformed', TypeError: 'network' }
  return { error: { kind: kinds[name] ?? 'unknown', message: cause?.message ?? message } }
}

const answerOf = (ok) => ({ ok: ok ?? null })

for await (const line of createInterface({ input: process.stdin })) {
  const command = JSON.parse(line)
  const run = commands[command.command]
  const answer = run ? await run(command).then(answerOf, errorOf) : { unsupported: true }
  console.log(JSON.stringify(answer))
}
