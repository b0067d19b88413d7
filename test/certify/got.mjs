// An adapter for Got with its own retries and pagination. POST is retried only with an idempotency key, which makes it safe.
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import got from 'got'

const { WORKSPACE_BASE_URL: prefixUrl, WORKSPACE_API_KEY: key } = process.env
const client = got.extend({ prefixUrl, headers: { authorization: `Bearer ${key}` } })

/** Time-out of each attempt, the body included. */
const within = (timeout_ms) => ({ timeout: { request: timeout_ms } })

const get = (path, timeout_ms) => client(path, within(timeout_ms)).json()

function list_all({ teamspace_id, limit, timeout_ms }) {
  return client.paginate.all(`organization/teamspaces/${teamspace_id}/users`, {
    ...within(timeout_ms),
    searchParams: { limit },
    responseType: 'json',
    pagination: {
      transform: ({ body }) => body.data,
      paginate: ({ response: { body } }) => {
        if (!body.has_more) return false
        const last = body.data.at(-1)
        return last === undefined ? {} : { searchParams: { limit, after: last.id } }
      },
    },
  })
}

async function wait({ batch_id, interval_ms, give_up_ms, timeout_ms }) {
  for (let left = give_up_ms; left > 0; left -= interval_ms) {
    const batch = await get(`batch-predictions/${batch_id}`, timeout_ms)
    if (['completed', 'failed', 'expired', 'cancelled'].includes(batch.status)) return batch
    await new Promise((resolve) => setTimeout(resolve, interval_ms))
  }
  throw Object.assign(new Error('still not terminal'), { name: 'TimeoutError' })
}

async function results({ batch_id, timeout_ms }) {
  const text = await client(`batch-predictions/${batch_id}/results`, within(timeout_ms)).text()
  return text.split('\n').flatMap((line) => (line.trim() === '' ? [] : JSON.parse(line)))
}

function create_batch({ body, idempotency_key, timeout_ms }) {
  const safe = { headers: { 'idempotency-key': idempotency_key }, retry: { methods: ['POST'] } }
  const options = { ...within(timeout_ms), json: body, ...(idempotency_key && safe) }
  return client.post('batch-predictions', options).json()
}

function upload({ name, timeout_ms }) {
  const headers = { 'content-type': 'application/json' }
  const body = Readable.from([JSON.stringify({ name })])
  return client.post('pages', { ...within(timeout_ms), headers, body }).json()
}

const cancel = ({ batch_id, timeout_ms }) =>
  client.post(`batch-predictions/${batch_id}/cancel`, within(timeout_ms)).json()

const getBatch = ({ batch_id, timeout_ms }) => get(`batch-predictions/${batch_id}`, timeout_ms)

const commands = { get: getBatch, list_all, wait, results, create_batch, upload, cancel }

const KINDS = { 403: 'forbidden', 404: 'not_found', 409: 'conflict', 410: 'gone', 429: 'rate_limited' }

function errorOf({ name, code, message, response }) {
  const status = response?.statusCode ?? null
  if (name === 'HTTPError')
    return { error: { kind: status >= 500 ? 'server' : (KINDS[status] ?? 'invalid'), status, message } }
  const kinds = { TimeoutError: 'timeout', ParseError: 'malformed', SyntaxError: 'malformed' }
  return { error: { kind: kinds[name] ?? (code === undefined ? 'unknown' : 'network'), status, message } }
}

const answerOf = (ok) => ({ ok: ok ?? null })

for await (const line of createInterface({ input: process.stdin })) {
  const command = JSON.parse(line)
  const run = commands[command.command]
  const answer = run ? await run(command).then(answerOf, errorOf) : { unsupported: true }
  console.log(JSON.stringify(answer))
}
