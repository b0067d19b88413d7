import { createHmac, timingSafeEqual } from 'node:crypto'
import type { BatchBody } from 'agent-workspace-emulator'
import type { Host } from './client.ts'

const RETRIES = 3
/** Milliseconds. */
const LONGEST_BACK_OFF = 60_000
/** A longer Retry-After is not waited for: the program decides what to do then. Milliseconds. */
const LONGEST_WAIT = 300_000
const TERMINAL = ['completed', 'failed', 'expired', 'cancelled']
const RUNNING = ['validating', 'in_progress', 'finalizing', 'cancelling']

export type Kind =
  | 'rate_limited'
  | 'conflict'
  | 'gone'
  | 'not_found'
  | 'forbidden'
  | 'invalid'
  | 'server'
  | 'network'
  | 'timeout'
  | 'truncated'
  | 'malformed'
  | 'unknown'

export class CallError extends Error {
  override readonly name = 'CallError'
  readonly kind: Kind
  readonly status: number | undefined

  constructor(kind: Kind, message: string, status?: number, cause?: unknown) {
    super(message, { cause })
    this.kind = kind
    this.status = status
  }
}

export interface Batch {
  readonly id: string
  readonly status: string
  readonly expires_at: string
  readonly request_counts: { readonly total: number }
}

export interface Line {
  readonly custom_id: string
  readonly status: string
  readonly output: unknown
  readonly error: unknown
}

interface Call {
  readonly method: string
  readonly path: string
  readonly body?: unknown
  readonly key?: string
  /** Reads the whole text of a success. Throws {@link CallError} if the text is not what the service promises. */
  readonly read: (text: string, type: string) => unknown
  /** Whether the same request may be sent twice. Default: a request other than POST, or one with a key. */
  readonly isRepeatable?: boolean
}

/** A failed attempt, with the wait that the service asks for. */
interface Failure {
  readonly error: CallError
  /** Milliseconds; undefined if the response has no valid Retry-After. */
  readonly retryAfter?: number | undefined
  /** Whether the service has certainly not done anything. */
  readonly isRefused?: boolean
  readonly mayRetry: boolean
}

/** A client of the service without a known bug. */
export class CorrectClient {
  readonly #service: Host

  constructor(service: Host) {
    this.#service = service
  }

  async createPage(name: string): Promise<{ readonly id: string }> {
    const page = await this.#call({ method: 'POST', path: '/pages', body: { name }, read: object })
    return page as { id: string }
  }

  async createBatch(batch: BatchBody, key: string): Promise<Batch> {
    const call = { method: 'POST', path: '/batch-predictions', body: batch, key, read: object }
    return (await this.#call(call)) as Batch
  }

  async get(id: string): Promise<Batch> {
    return (await this.#call({ method: 'GET', path: `/batch-predictions/${id}`, read: object })) as Batch
  }

  /** A second cancellation of a batch changes nothing, so it may be repeated. */
  async cancel(id: string): Promise<Batch> {
    const path = `/batch-predictions/${id}/cancel`
    return (await this.#call({ method: 'POST', path, read: object, isRepeatable: true })) as Batch
  }

  /**
   * Polls until the batch is terminal. The interval grows, and the wait ends with the completion window.
   * @param interval milliseconds before the second poll
   */
  async wait(id: string, interval = 2000): Promise<Batch> {
    const { sleep, now, random } = this.#service
    let unusual = 0
    for (let polls = 0; ; polls++) {
      const batch = await this.#poll(id, polls)
      if (batch !== undefined && TERMINAL.includes(batch.status)) return batch
      unusual = batch !== undefined && RUNNING.includes(batch.status) ? 0 : unusual + 1
      if (unusual > 5)
        throw new CallError('unknown', `the batch ${id} has the unknown status ${batch?.status}`)
      if (batch !== undefined && now() > Date.parse(batch.expires_at) + 600_000)
        throw new CallError('timeout', `the batch ${id} has not ended with its completion window`)
      await sleep(Math.min(interval * 1.5 ** polls, LONGEST_WAIT) * (1 + random() / 4))
    }
  }

  /** @returns undefined if the batch is not readable yet, as just after its creation */
  async #poll(id: string, polls: number): Promise<Batch | undefined> {
    try {
      return await this.get(id)
    } catch (error) {
      if (error instanceof CallError && error.kind === 'not_found' && polls < 3) return undefined
      throw error
    }
  }

  /** All results of a terminal batch, one for each item. A stream that ends early is read again. */
  async results(id: string): Promise<readonly Line[]> {
    const { total } = (await this.get(id)).request_counts
    const read = (text: string) => wholeResults(text, total)
    return (await this.#call({ method: 'GET', path: `/batch-predictions/${id}/results`, read })) as Line[]
  }

  async listAll(teamspace: string, limit = 10): Promise<readonly { readonly id: string }[]> {
    const users = new Map<string, { readonly id: string }>()
    const cursors = new Set<string>()
    let [after, empty] = ['', 0]
    for (;;) {
      const query = new URLSearchParams({ limit: String(limit), ...(after !== '' && { after }) })
      const path = `/organization/teamspaces/${teamspace}/users?${query}`
      const page = (await this.#call({ method: 'GET', path, read: listPage })) as Page
      for (const user of page.data) users.set(user.id, user)
      if (!page.has_more) return [...users.values()]
      const next = page.data.at(-1)?.id
      // A page without rows has no cursor: the next request asks for the same place again.
      if (next === undefined) {
        if (++empty > RETRIES) throw new CallError('malformed', 'the pages are empty, but there are more')
        await this.#backOff(empty)
      } else {
        if (cursors.has(next)) throw new CallError('malformed', `the cursor ${next} came twice`)
        cursors.add(next)
        after = next
      }
    }
  }

  /** All data views, which are numbered by their position: a row may come twice when rows are added. */
  async listDataViews(limit = 2): Promise<readonly { readonly id: string }[]> {
    const views = new Map<string, { readonly id: string }>()
    for (let offset = 0; ; offset += limit) {
      const path = `/data-views?limit=${limit}&offset=${offset}`
      const { data } = (await this.#call({ method: 'GET', path, read: list })) as Page
      for (const view of data) views.set(view.id, view)
      if (data.length < limit) return [...views.values()]
    }
  }

  async #call(call: Call): Promise<unknown> {
    const { method, key, isRepeatable = method !== 'POST' || key !== undefined } = call
    for (let attempt = 0; ; attempt++) {
      const outcome = await this.#attempt(call)
      if (!('error' in outcome)) return outcome.value
      const { error, retryAfter = 0, isRefused = false, mayRetry } = outcome
      if (!mayRetry || !(isRepeatable || isRefused) || attempt === RETRIES) throw error
      if (retryAfter > LONGEST_WAIT) throw error
      await this.#backOff(attempt, retryAfter)
    }
  }

  /** Waits at least as long as the service asks for. The random part keeps clients from returning together. */
  async #backOff(attempt: number, atLeast = 0): Promise<void> {
    const { sleep, random } = this.#service
    const wait = Math.max(atLeast, Math.min(1000 * 2 ** attempt, LONGEST_BACK_OFF))
    await sleep(wait + random() * Math.min(wait / 2, 5000))
  }

  async #attempt(call: Call): Promise<{ readonly value: unknown } | Failure> {
    const { baseUrl, apiKey, timeout } = this.#service
    const headers: Record<string, string> = { Authorization: `Bearer ${apiKey}` }
    if (call.body !== undefined) headers['Content-Type'] = 'application/json'
    if (call.key !== undefined) headers['Idempotency-Key'] = call.key
    let head: Response | undefined
    try {
      head = await fetch(baseUrl + call.path, {
        method: call.method,
        headers,
        body: call.body === undefined ? null : JSON.stringify(call.body),
        // It also ends a body that does not arrive.
        signal: AbortSignal.timeout(timeout),
      })
      const text = await head.text()
      if (!head.ok) return this.#refusal(head, text)
      return { value: call.read(text, head.headers.get('content-type') ?? '') }
    } catch (error) {
      return { error: asCallError(error, head), mayRetry: true }
    }
  }

  #refusal({ status, headers }: Response, text: string): Failure {
    const error = new CallError(kindOf(status), `status ${status}: ${text.slice(0, 200)}`, status)
    const retryAfter = waitOf(headers.get('retry-after'), this.#service.now())
    // After a 429 the request was not handled. A key that is in use is free again when the other request is over.
    if (status === 429) return { error, retryAfter, isRefused: true, mayRetry: true }
    if (status === 409) return { error, retryAfter, mayRetry: text.includes('idempotency_key_in_use') }
    return { error, retryAfter, mayRetry: status >= 500 && status !== 501 }
  }
}

export interface Webhook {
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body: string
}

export interface WebhookSecret {
  readonly secret: string
  /** Milliseconds. */
  readonly tolerance: number
}

/** Whether a webhook is from the service and not too old. @param now milliseconds since the epoch */
export function isGenuine(
  { headers, body }: Webhook,
  { secret, tolerance }: WebhookSecret,
  now: number,
): boolean {
  const timestamp = headers['x-timestamp'] ?? ''
  const signed = createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')
  const expected = Buffer.from(`sha256=${signed}`)
  const given = Buffer.from(headers['x-signature'] ?? '')
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return false
  return Math.abs(now - Number(timestamp) * 1000) <= tolerance
}

/** @returns milliseconds; undefined for a text that is neither a number nor a date */
function waitOf(header: string | null, now: number): number | undefined {
  if (header === null) return undefined
  if (/^\d+(\.\d+)?$/.test(header)) return Number(header) * 1000
  // The oldest form of a date has no zone, and means GMT.
  const at = /^\w{3} /.test(header)
    ? Date.parse(`${header} GMT`)
    : /\d GMT$/.test(header)
      ? Date.parse(header)
      : NaN
  return Number.isNaN(at) ? undefined : Math.max(0, at - now)
}

function kindOf(status: number): Kind {
  const kinds: Readonly<Record<number, Kind>> = {
    400: 'invalid',
    401: 'forbidden',
    403: 'forbidden',
    404: 'not_found',
    409: 'conflict',
    410: 'gone',
    422: 'invalid',
    429: 'rate_limited',
  }
  return kinds[status] ?? (status >= 500 ? 'server' : 'unknown')
}

function asCallError(error: unknown, head: Response | undefined): CallError {
  if (error instanceof CallError) return error
  const message = error instanceof Error ? error.message : String(error)
  if (error instanceof Error && error.name === 'TimeoutError')
    return new CallError('timeout', 'no whole response came in time', head?.status, error)
  return new CallError(head === undefined ? 'network' : 'truncated', message, head?.status, error)
}

interface Page {
  readonly data: readonly { readonly id: string }[]
  readonly has_more?: boolean
}

function object(text: string, type: string): unknown {
  const value = json(text, type)
  if (typeof value !== 'object' || value === null || !('id' in value))
    throw new CallError('malformed', 'the response is not an object of the service')
  return value
}

function list(text: string, type: string): Page {
  const value = json(text, type) as Partial<Page> | null
  if (!Array.isArray(value?.data)) throw new CallError('malformed', 'the response has no list of rows')
  return value as Page
}

function listPage(text: string, type: string): Page {
  const page = list(text, type)
  if (typeof page.has_more !== 'boolean') throw new CallError('malformed', 'the page has no has_more')
  return page
}

function json(text: string, type: string): unknown {
  if (!/^application\/([\w.]+\+)?json\b/.test(type))
    throw new CallError('malformed', `the response is of the type "${type}"`)
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new CallError('malformed', 'the response is not JSON', undefined, error)
  }
}

function wholeResults(text: string, total: number): readonly Line[] {
  const lines = new Map<string, Line>()
  for (const line of text.split('\n')) {
    if (line.trim() === '') continue
    const result = parsedLine(line)
    if (!lines.has(result.custom_id)) lines.set(result.custom_id, result)
  }
  if (lines.size < total) throw new CallError('truncated', `${lines.size} of ${total} results arrived`)
  return [...lines.values()]
}

// The last line of a stream that was cut is not JSON.
function parsedLine(line: string): Line {
  try {
    return JSON.parse(line) as Line
  } catch (error) {
    throw new CallError('truncated', 'a line is not JSON', undefined, error)
  }
}
