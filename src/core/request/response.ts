import { KeptResponse } from '../log/kept-response.ts'
import type { Sandbox } from '../sandboxes/sandbox.ts'
import { SECOND } from '../time/instant.ts'
import { contentOf } from './content.ts'
import type { Exchange, RequestHooks } from './exchange.ts'
import type { HeaderList } from './headers.ts'
import { type Admission, noWindow } from './rate-limiter.ts'

/** A response in its final form: an adapter only has to write it. */
export interface ApiResponse {
  readonly status: number
  readonly headers: HeaderList
  /** The serialised body; undefined when there is none or when it is streamed. */
  readonly text: string | undefined
  /** Lines of an NDJSON stream, created while they are read. */
  readonly lines: Iterable<string> | undefined
  /** Resolves when the acknowledged changes survive a power cut; undefined when that is not promised. */
  readonly durable: Promise<void> | undefined
  /** The copy for the log. An adapter that sends something else changes this copy. */
  readonly kept?: KeptResponse
  /** The hooks of its request, which may change how it is sent. Absent for a response that is sent unchanged. */
  readonly hooks?: RequestHooks
}

/** Creates the response of a request that has passed the pipeline or was refused, and logs it. */
export function finish(sandbox: Sandbox, exchange: Exchange): ApiResponse {
  const { hooks } = exchange
  const content = hooks?.content(exchange) ?? contentOf(exchange)
  const limit = sandbox.limitOf(exchange.call.operation.name)
  const found =
    exchange.refusal?.options.admission ?? exchange.window?.admission ?? noWindow(limit, sandbox.limiterNow())
  const own: (readonly [string, string])[] = []
  const shown = sandbox.assumptions.shownOf(exchange.assumed)
  if (shown !== '') own.push(['X-Emulator-Assumed', shown])
  own.push(['X-Emulator-Request-Id', exchange.id], ['Date', httpDate(exchange.now)])
  const { admission, headers } =
    hooks === undefined
      ? { admission: found, headers: content.headers.concat(quotaHeaders(found), own) }
      : hooks.response(exchange, { content: content.headers, admission: found, own })
  const { status, text, lines } = content
  const { method, operation } = exchange.call
  const kept = new KeptResponse(status, headers, operation.secrets)
  if (text !== undefined && method !== 'HEAD') kept.write(text)
  sandbox.record(exchange, status, admission, kept)
  // Hooks write in separate transactions.
  const hasWritten = exchange.commit !== undefined || hooks !== undefined
  const durable = hasWritten ? sandbox.store.journal?.durable() : undefined
  const copied = lines && kept.copying(lines)
  return { status, headers, text, lines: copied, durable, kept, ...(hooks && { hooks }) }
}

/** The rate-limit headers of every response. Specification: Limits / Rate limits. */
export function quotaHeaders({ limit, remaining, reset, retryAfter }: Admission): HeaderList {
  const headers: (readonly [string, string])[] = [
    ['X-RateLimit-Limit', String(limit)],
    ['X-RateLimit-Remaining', String(remaining)],
    ['X-RateLimit-Reset', String(reset)],
  ]
  if (retryAfter !== undefined) headers.push(['Retry-After', String(retryAfter)])
  return headers
}

/** An instant in the format of the Date header. */
function httpDate(ms: number): string {
  const second = Math.floor(ms / SECOND)
  // The text is the same for all requests of one second.
  if (second !== latest.second) latest = { second, text: new Date(ms).toUTCString() }
  return latest.text
}

let latest = { second: 0, text: 'Thu, 01 Jan 1970 00:00:00 GMT' }
