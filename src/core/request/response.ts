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
  /** Lines of an NDJSON stream, made while they are read. */
  readonly lines: Iterable<string> | undefined
  /** Resolves when what the response acknowledges survives a power cut; undefined where that is not promised. */
  readonly durable: Promise<void> | undefined
  /** What the log keeps of it: an adapter that sends something else says so there. */
  readonly kept?: KeptResponse
  /** The hooks of its request: they may change how it is sent. Absent for a response that is sent as it is. */
  readonly hooks?: RequestHooks
}

/** Makes the response of a request that has passed the pipeline or was refused, and logs it. */
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
  // Hooks write in transactions of their own.
  const hasWritten = exchange.commit !== undefined || hooks !== undefined
  const durable = hasWritten ? sandbox.store.journal?.durable() : undefined
  const copied = lines && kept.copying(lines)
  return { status, headers, text, lines: copied, durable, kept, ...(hooks && { hooks }) }
}

/** The headers that every response carries. Specification: Limits / Rate limits. */
export function quotaHeaders({ limit, remaining, reset, retryAfter }: Admission): HeaderList {
  const headers: (readonly [string, string])[] = [
    ['X-RateLimit-Limit', String(limit)],
    ['X-RateLimit-Remaining', String(remaining)],
    ['X-RateLimit-Reset', String(reset)],
  ]
  if (retryAfter !== undefined) headers.push(['Retry-After', String(retryAfter)])
  return headers
}

/** An instant as the header Date has it. */
function httpDate(ms: number): string {
  const second = Math.floor(ms / SECOND)
  // The same for all requests of a second.
  if (second !== latest.second) latest = { second, text: new Date(ms).toUTCString() }
  return latest.text
}

let latest = { second: 0, text: 'Thu, 01 Jan 1970 00:00:00 GMT' }
