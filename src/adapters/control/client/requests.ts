import type { RequestTrace } from '../../../core/explain/trace.ts'
import type { HarDocument } from '../har.ts'
import type { RequestEntry } from '../request-entry.ts'
import type { RequestCheck, RequestCount, RequestSearch } from '../routes/request-checks.ts'
import type { LogCounts, LoggedRequests } from '../routes/requests.ts'
import { type Ask, entriesOf, refuseUnknownOptions } from './ask.ts'

/** Which requests of the log are asked for; all that is given must hold. */
export type RequestFilter = Omit<LoggedRequests, 'status' | 'limit' | 'full' | 'sandbox'> & {
  /** A status such as 429, or a class such as `4xx`. */
  readonly status?: number | string | undefined
  /** How many, the newest; 100 when left out, at most 100,000. */
  readonly limit?: number | undefined
  /** Whether to include heads and bodies of requests and responses. Default false. */
  readonly full?: boolean | undefined
}

/** How long, and for how many requests, to wait. */
export interface WaitOptions {
  /** At least this number; 1 when left out, at most 1,000. */
  readonly count?: number | undefined
  /** Real milliseconds, 1 to 600,000; 5,000 when left out. */
  readonly timeoutMs?: number | undefined
  /** Ends the wait, which then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined
}

/** The API requests that a sandbox has received. */
export type SandboxRequests = ReturnType<typeof requestsOver>

export function requestsOver(ask: Ask) {
  const logged = ({ status, limit, full, ...filter }: RequestFilter) => {
    const texts = { status: asText(status), limit: asText(limit), ...(full && { full: 'true' as const }) }
    return ask('GET /requests', { query: { ...filter, ...texts } })
  }
  return {
    /** The newest requests (100 unless `limit` says otherwise), in order of arrival. */
    list: (filter: RequestFilter = {}): Promise<readonly RequestEntry[]> => entriesOf(logged(filter)),
    /** How many requests of the log match, how many it can hold, and how many it has dropped. */
    count: async (filter: Omit<RequestFilter, 'limit' | 'full'> = {}): Promise<LogCounts> => {
      const { matched, capacity, dropped } = await logged({ ...filter, limit: 1 })
      return { matched, capacity, dropped }
    },
    /** The same as HAR 1.2, which browsers and other tools read, without keys and secrets. */
    har: ({ status, limit, ...filter }: Omit<RequestFilter, 'full'> = {}): Promise<HarDocument> =>
      ask('GET /requests/har', { query: { ...filter, status: asText(status), limit: asText(limit) } }),
    /** Tells whether requests have come as expected, at least one unless `count` says otherwise. It never rejects because they have not. */
    verify: (match: RequestSearch, count?: RequestCount): Promise<RequestCheck> =>
      ask('POST /requests/verify', { body: { match, count } }),
    /** Waits until that number of requests has come, those already in the log included; after `timeoutMs` it tells that they have not. */
    wait: (match: RequestSearch, options?: WaitOptions): Promise<RequestCheck> => wait(ask, match, options),
    /** Why a request was answered as it was. @param id of the header X-Emulator-Request-Id, of any sandbox */
    explain: (id: string): Promise<RequestTrace> =>
      ask('GET /explain/{request_id}', { params: { request_id: id } }),
    /** Sends a logged request again as its caller, without faults of the connection. @returns the entry of the new request */
    resend: (id: string): Promise<RequestEntry> =>
      ask('POST /requests/{request_id}/resend', { params: { request_id: id } }),
    /** Empties the log. */
    clear: async (): Promise<void> => void (await ask('DELETE /requests')),
  }
}

/** Real milliseconds. HTTP clients give up on a response that takes minutes, so that a long wait is made of shorter ones. */
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
