import { request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http'
import { request as httpsRequest } from 'node:https'
import type { LookupFunction } from 'node:net'
import { formatDuration } from '../../core/time/instant.ts'
import { later } from '../../core/time/realtime.ts'
import type { AttemptResult } from '../../core/webhooks/delivery.ts'
import { INBOX_URL } from '../../core/webhooks/inbox.ts'
import type { WebhookRequest } from '../../core/webhooks/message.ts'
import type { Targets, WebhookTarget } from './targets.ts'

/** The limits of one attempt. */
export interface Bounds {
  /** Real milliseconds, from the look-up of the name to the end of the response. */
  readonly timeout: number
  readonly signal: AbortSignal
  /** The status with which the built-in inbox responds. */
  readonly inboxStatus: number
  /** `delivery/attempt`. */
  readonly attempt: string
}

/** Makes one attempt. Never rejects: every failure is an outcome. */
export type Send = (message: WebhookRequest, bounds: Bounds) => Promise<AttemptResult>

/** Maximum bytes that are read of a response. A longer one is cut off there and counts as complete. */
const MAX_READ = 65_536

/** Sends webhooks to allowed targets, over HTTP or HTTPS. Follows no redirects and uses no proxy. */
export function sender(targets: Targets): Send {
  return async (message, { timeout, signal, inboxStatus }) => {
    if (message.url === INBOX_URL) return judged({ status: inboxStatus, error: null }, undefined)
    const deadline = new AbortController()
    const cancel = later(timeout, () => deadline.abort())
    const either = AbortSignal.any([signal, deadline.signal])
    try {
      const target = await unlessAborted(targets.judge(message.url), either)
      if ('refused' in target) return { outcome: 'refused', status: null, error: target.refused }
      const response = await exchange(target, message, either)
      return judged(response, deadline.signal.aborted ? timeout : undefined)
    } catch (error) {
      return judged({ status: null, error: inWords(error) }, deadline.signal.aborted ? timeout : undefined)
    } finally {
      cancel()
    }
  }
}

/** The response to an attempt. `error` is null when it is complete or longer than {@link MAX_READ}. */
type Answer = Pick<AttemptResult, 'status' | 'error' | 'retry_after'>

function judged({ status, error, ...wait }: Answer, timedOut: number | undefined): AttemptResult {
  if (error !== null && timedOut !== undefined) {
    const what = status === null ? 'no response' : 'no complete response'
    return { outcome: 'timeout', status, error: `${what} within ${formatDuration(timedOut)}` }
  }
  if (error !== null || status === null) return { outcome: 'failed', status, error: error ?? 'no response' }
  if (status >= 200 && status < 300) return { outcome: 'delivered', status, error: null }
  const redirect = status >= 300 && status < 400 ? '; redirects are not followed' : ''
  return { outcome: 'failed', status, error: `responded with ${status}${redirect}`, ...wait }
}

/** Sends one request and reads its response. If the connection breaks, resolves with the error and any status received. */
function exchange(
  target: WebhookTarget,
  { headers, body }: WebhookRequest,
  signal: AbortSignal,
): Promise<Answer> {
  return new Promise((resolve) => {
    let status: number | null = null
    let wait: Pick<Answer, 'retry_after'> = {}
    // Only the first of these calls counts, because a broken connection emits several events.
    const end = (error: string | null): void => resolve({ status, error, ...wait })
    const { url, host, port } = target
    const options: RequestOptions = {
      method: 'POST',
      host,
      port,
      path: url.pathname + url.search,
      headers: { ...headers },
      // A new connection that is closed afterwards. The global agent may be configured to use a proxy.
      agent: false,
      lookup: lookupOf(target),
      signal,
    }
    const request = url.protocol === 'https:' ? httpsRequest(options) : httpRequest(options)
    request.on('response', (response) => {
      status = response.statusCode ?? null
      wait = waitOf(response)
      read(response, end, () => request.destroy())
    })
    request.on('error', (error) => end(inWords(error)))
    request.on('close', () => end('the connection was closed without a response'))
    request.end(body)
  })
}

/** Statuses with which a receiver may say when it can be asked again. */
const BUSY = [429, 502, 503, 504]

/** How long a receiver asks to wait: `Retry-After`, in seconds or as a date (RFC 9110, section 10.2.3). */
function waitOf({ statusCode = 0, headers }: IncomingMessage): Pick<Answer, 'retry_after'> {
  const { 'retry-after': after = '', date = '' } = headers
  if (!BUSY.includes(statusCode)) return {}
  // The clock of the receiver counts, which is in the same response.
  const seconds = /^\d+$/.test(after) ? Number(after) : (Date.parse(after) - Date.parse(date)) / 1000
  return Number.isFinite(seconds) && seconds > 0 ? { retry_after: Math.min(seconds, MAX_WAIT) * 1000 } : {}
}

/** Seconds of 366 days. */
const MAX_WAIT = 31_622_400

function read(response: IncomingMessage, end: (error: string | null) => void, cut: () => void): void {
  let bytes = 0
  response.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes <= MAX_READ) return
    end(null)
    cut()
  })
  response.on('end', () => end(null))
  response.on('error', (error) => end(inWords(error)))
  response.on('close', () => end('the response was cut off'))
}

// No second lookup: the request connects to the addresses that were checked. Node does not call this for IP addresses.
function lookupOf({ addresses }: WebhookTarget): LookupFunction {
  return (_name, { all }, callback) => {
    const [first] = addresses
    if (all === true) callback(null, [...addresses])
    else callback(null, first?.address ?? '', first?.family)
  }
}

function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(new Error('the attempt was aborted'))
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}

const WORDS: ReadonlyMap<string, string> = new Map([
  ['ECONNREFUSED', 'connection refused'],
  ['ECONNRESET', 'the connection was reset'],
  ['EPIPE', 'the connection was closed while the request was being sent'],
  ['ETIMEDOUT', 'the connection timed out'],
  ['EHOSTUNREACH', 'the host cannot be reached'],
  ['ENETUNREACH', 'the network cannot be reached'],
  ['EADDRNOTAVAIL', 'the address cannot be reached from here'],
  ['ENOTFOUND', 'the name has no address'],
  ['EAI_AGAIN', 'the name cannot be looked up at present'],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'the certificate is self-signed; use http on this machine'],
])

/** Describes an error of a connection as a part of a sentence. */
function inWords(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  // Some errors of the platform have a number as their code.
  const code = String((error as NodeJS.ErrnoException).code ?? '')
  if (code.startsWith('HPE_')) return `the response is not HTTP (${code})`
  return WORDS.get(code) ?? (error.message || code || error.name).slice(0, 300)
}
