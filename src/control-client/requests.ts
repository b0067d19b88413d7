import type { RequestTrace } from '../core/explain/trace.ts'
import type { HarDocument } from '../server/control/har.ts'
import type { RequestEntry } from '../server/control/request-entry.ts'
import type { RequestCheck, RequestCount, RequestSearch } from '../server/control/routes/request-checks.ts'
import type { LogCounts, LoggedRequests } from '../server/control/routes/requests.ts'
import { type CallControl, dataOf, refuseUnknownOptions } from './ask.ts'

/** A filter for the request log. A request must match every given field. */
export type RequestFilter = Omit<LoggedRequests, 'status' | 'limit' | 'full' | 'sandbox'> & {
  /** A status such as 429, or a class such as `4xx`. */
  readonly status?: number | string | undefined
  /** Number of requests, the newest ones. Default 100, maximum 100,000. */
  readonly limit?: number | undefined
  /** Whether to include heads and bodies of requests and responses. Default false. */
  readonly full?: boolean | undefined
}

/** Options of a wait. */
export interface WaitOptions {
  /** Number of requests to wait for, 1 to 1,000. Default 1. */
  readonly count?: number | undefined
  /** Real milliseconds, 1 to 600,000. Default 5,000. */
  readonly timeoutMs?: number | undefined
  /** Ends the wait, which then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined
}

/** The API requests that a sandbox has received. */
export type SandboxRequests = ReturnType<typeof requestsOver>

export function requestsOver(ask: CallControl) {
  const logged = ({ status, limit, full, ...filter }: RequestFilter) => {
    const texts = {
      status: status?.toString(),
      limit: limit?.toString(),
      ...(full && { full: 'true' as const }),
    }
    return ask('GET /requests', { query: { ...filter, ...texts } })
  }
  return {
    /** The newest requests (100 by default), in order of arrival. */
    list: (filter: RequestFilter = {}): Promise<readonly RequestEntry[]> => dataOf(logged(filter)),
    /** The number of matching requests in the log, the capacity of the log, and the number of requests that it has dropped. */
    count: async (filter: Omit<RequestFilter, 'limit' | 'full'> = {}): Promise<LogCounts> => {
      const { matched, capacity, dropped } = await logged({ ...filter, limit: 1 })
      return { matched, capacity, dropped }
    },
    /** The same requests as HAR 1.2 for browsers and other tools, without keys and secrets. */
    har: ({ status, limit, ...filter }: Omit<RequestFilter, 'full'> = {}): Promise<HarDocument> =>
      ask('GET /requests/har', {
        query: { ...filter, status: status?.toString(), limit: limit?.toString() },
      }),
    /**
     * Checks whether the expected number of requests has come, by default at least one.
     * If not, it resolves with `passed: false`.
     */
    verify: (match: RequestSearch, count?: RequestCount): Promise<RequestCheck> =>
      ask('POST /requests/verify', { body: { match, count } }),
    /**
     * Waits until `count` requests have come, those already in the log included.
     * After `timeoutMs` it resolves with `passed: false`.
     */
    wait: async (match: RequestSearch, options: WaitOptions = {}): Promise<RequestCheck> => {
      refuseUnknownOptions('requests.wait()', options, ['count', 'timeoutMs', 'signal'])
      const { count, timeoutMs: timeout_ms, signal } = options
      return ask('POST /requests/wait', { body: { match, count, timeout_ms }, signal })
    },
    /** Explains the response to a request. @param id from the header X-Emulator-Request-Id of the response, in any sandbox */
    explain: (id: string): Promise<RequestTrace> =>
      ask('GET /explain/{request_id}', { params: { request_id: id } }),
    /** Sends a logged request again as its caller, without faults of the connection. @returns the entry of the new request */
    resend: (id: string): Promise<RequestEntry> =>
      ask('POST /requests/{request_id}/resend', { params: { request_id: id } }),
    /** Empties the log. */
    clear: (): Promise<void> => ask('DELETE /requests'),
  }
}
