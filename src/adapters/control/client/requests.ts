import type { Ask } from './ask.ts'
import { refuseUnknownOptions } from './known-options.ts'
import type { RequestTrace } from './views/request-trace.ts'
import type {
  RequestCheck,
  RequestCount,
  RequestFilter,
  RequestList,
  RequestSearch,
} from './views/requests.ts'

/** How long, and for how many requests, to wait. */
export interface WaitOptions {
  /** At least so many; 1 when left out, at most 1,000. */
  readonly count?: number | undefined
  /** Real milliseconds, 1 to 600,000; 5,000 when left out. */
  readonly timeoutMs?: number | undefined
  /** Ends the wait, which then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined
}

/** The API requests that a sandbox has seen. */
export interface SandboxRequests {
  /** The newest requests (100 unless `limit` says otherwise), in order of arrival. */
  list(filter?: RequestFilter): Promise<RequestList>
  /** Tells whether requests have come as expected, at least one unless `count` says otherwise. It never rejects because they have not. */
  verify(match: RequestSearch, count?: RequestCount): Promise<RequestCheck>
  /** Waits until so many requests have come, those already in the log included; after `timeoutMs` it tells that they have not. */
  wait(match: RequestSearch, options?: WaitOptions): Promise<RequestCheck>
  /** Why a request was answered as it was. @param id of the header X-Emulator-Request-Id, of whichever sandbox */
  explain(id: string): Promise<RequestTrace>
  /** Empties the log. */
  clear(): Promise<void>
}

export function requestsOver(ask: Ask): SandboxRequests {
  return {
    list: ({ status, limit, ...filter } = {}) =>
      ask('GET /requests', { query: { ...filter, status: asText(status), limit: asText(limit) } }),
    verify: (match, count) => ask('POST /requests/verify', { body: { match, count } }),
    wait: (match, options) => wait(ask, match, options),
    explain: (id) => ask('GET /explain/{request_id}', { params: { request_id: id } }),
    clear: async () => void (await ask('DELETE /requests')),
  }
}

/** Real milliseconds. HTTP clients give up on an answer that takes minutes, so that a long wait is made of shorter ones. */
const MAX_PIECE_LENGTH = 120_000

/** The longest that the emulator accepts. */
const MAX_WAIT = 600_000

async function wait(ask: Ask, match: RequestSearch, options: WaitOptions = {}): Promise<RequestCheck> {
  refuseUnknownOptions('requests.wait()', options, ['count', 'timeoutMs', 'signal'])
  const { count, timeoutMs, signal } = options
  const once = (timeout_ms?: number): Promise<RequestCheck> =>
    ask('POST /requests/wait', { body: { match, count, timeout_ms }, signal })
  // What is too long has to reach the emulator, so that it says so.
  if (timeoutMs === undefined || timeoutMs <= MAX_PIECE_LENGTH || timeoutMs > MAX_WAIT) return once(timeoutMs)
  for (let left = timeoutMs; ; left -= MAX_PIECE_LENGTH) {
    const check = await once(Math.min(left, MAX_PIECE_LENGTH))
    if (check.timed_out !== true) return check
    if (left <= MAX_PIECE_LENGTH)
      return { ...check, description: `Not enough of them came within ${timeoutMs} ms.` }
  }
}

function asText(value: number | string | undefined): string | undefined {
  return value === undefined ? undefined : String(value)
}
