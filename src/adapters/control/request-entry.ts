import { refuse } from '../../core/errors.ts'
import type { LogEntry } from '../../core/log/request-log.ts'
import type { Sandbox } from '../../core/sandboxes/sandbox.ts'
import { parseInstant } from '../../core/time/instant.ts'
import { BASE } from './route.ts'

/** Where a request is explained. */
export function explainPath(id: string): string {
  return `${BASE}/explain/${id}`
}

/** One request in a list: what it was and what became of it. What changed, and which fault rules fired, is named, not shown. */
export function entryOf(sandbox: Sandbox, entry: LogEntry) {
  const { admission, commit, headers } = entry
  const changes = (commit?.changes ?? []).filter(({ table }) => !table.startsWith('$'))
  return {
    id: entry.id,
    at: entry.at,
    sandbox: sandbox.name,
    chosen_by: entry.chosenBy,
    method: entry.method,
    path: entry.path,
    operation: entry.operation ?? null,
    status: entry.status,
    decided: entry.decided,
    caller: entry.caller ?? null,
    admission: {
      admitted: admission.admitted,
      limit: admission.limit,
      remaining: admission.remaining,
      reset: admission.reset,
      retry_after: admission.retryAfter ?? null,
    },
    idempotency: entry.idempotency,
    idempotency_key: headers['idempotency-key'] ?? null,
    error: entry.error === undefined ? null : { code: entry.error.code, detail: entry.error.detail },
    assumed: entry.assumed,
    faults: (entry.faults?.fired ?? []).map(({ rule }) => rule.id),
    changed: changes.map(({ table, id }) => `${table}/${id}`),
    explain: explainPath(entry.id),
  }
}

/**
 * The entries of a log from a point on, oldest first. An instant takes the entries from then on; the id of a request takes
 * those after it, for anyone who reads the log piece by piece. Anything else is refused at the given place.
 */
export function entriesSince({ log }: Sandbox, point: string | undefined, at: string): LogEntry[] {
  const entries = log.entries()
  if (point === undefined) return entries
  const index = entries.findIndex(({ id }) => id === point)
  if (index !== -1) return entries.slice(index + 1)
  const from = parseInstant(point)?.ms ?? refusePoint(point, at)
  return entries.filter((entry) => Date.parse(entry.at) >= from)
}

function refusePoint(point: string, at: string): never {
  const detail = `"${point}" is neither an ISO 8601 instant nor the id of a request that is in the log`
  return refuse('validation_failed', {
    detail: `since: ${detail}.`,
    issues: [{ pointer: at, detail }],
    mitigation: 'GET /__emulator/requests lists the requests that are in the log, with their ids.',
  })
}
