import type { RequestEntry, RequestMatch, SandboxClient } from '../../index.ts'
import type { MatcherResult } from './matcher-result.ts'
import { inSandbox } from './report.ts'
import { type Wait, waitsAmong } from './waits.ts'

/** Real milliseconds by which a retry may be early, since timers of clients are not exact. */
const INEXACT = 10

/** The most requests that a log can hold. */
const ALL = 100_000

/** A wait that a client did not respect, and its request that was too early. */
interface Breach extends Wait {
  readonly next: RequestEntry
}

/**
 * Whether clients have respected Retry-After: after every 429 and 503 with the header, the next request with the same key, method
 * and path came no earlier, by the virtual instants of the log. Specification: Limits / Rate limits. Rejects if there was no such
 * response, or if the log has dropped requests that it would need.
 * @param match both the refusal and the next request must match it; a `status` in it applies only to the refusal
 */
export async function respectedRetryAfter(
  sandbox: SandboxClient,
  match?: RequestMatch,
): Promise<MatcherResult> {
  const { rate } = await sandbox.clock.show()
  const log = await sandbox.requests.list({ limit: ALL })
  const { dropped, capacity } = await sandbox.requests.count()
  const requests = await fitting(sandbox, log, match)
  const waits = await waitsAmong(sandbox, requests)
  if (waits.length === 0) throw new Error(noRetryAfter(sandbox, requests, match))
  await refuseWallClock(sandbox, rate)
  const followers = await fitting(sandbox, log, withoutStatus(match))
  const breaches = waits.flatMap((wait) => breachOf(wait, followers, INEXACT * rate))
  // Dropped requests do not matter if there is a breach; without one, a dropped request may have been one.
  if (breaches.length === 0 && dropped > 0) {
    throw new Error(
      `The log cannot show whether every client of ${sandbox.name} has waited: it keeps the newest ${capacity} requests and has dropped ${dropped}. Check earlier, or clear the log before the requests that count (sandbox.requests.clear).`,
    )
  }
  return {
    pass: breaches.length === 0,
    message: () =>
      breaches.length === 0
        ? `Expected a client of ${sandbox.name} not to wait as long as Retry-After, but clients waited long enough in ${waits.length} of ${waits.length} cases.`
        : inSandbox(sandbox, breachText(sandbox, waits, breaches, rate)),
  }
}

async function fitting(
  sandbox: SandboxClient,
  log: readonly RequestEntry[],
  match: RequestMatch | undefined,
): Promise<readonly RequestEntry[]> {
  if (match === undefined) return log
  const { matched } = await sandbox.requests.verify(match, { at_least: 0 })
  const ids = new Set(matched)
  return log.filter(({ id }) => ids.has(id))
}

// A status selects refusals only: the next request counts with any status.
function withoutStatus({ status: _, ...match }: RequestMatch = {}): RequestMatch | undefined {
  return Object.values(match).some((criterion) => criterion !== undefined) ? match : undefined
}

function breachOf(wait: Wait, followers: readonly RequestEntry[], early: number): Breach[] {
  const { refused, until } = wait
  const at = followers.findIndex(({ id }) => id === refused.id)
  const next = followers.slice(at + 1).find((each) => isSameKind(each, refused))
  return next === undefined || Date.parse(next.at) >= until - early ? [] : [{ ...wait, next }]
}

// A rate window counts one endpoint path and method for a teamspace, which the key identifies.
function isSameKind(a: RequestEntry, b: RequestEntry): boolean {
  return a.method === b.method && a.path === b.path && a.caller?.key_id === b.caller?.key_id
}

// The log has only virtual instants, which match the wall clock only at rate 1.
async function refuseWallClock(sandbox: SandboxClient, rate: number): Promise<void> {
  if (rate === 1) return
  const { values } = await sandbox.settings.show()
  if (values['limits.clock'] !== 'wall') return
  throw new Error(
    `The rate limits of ${sandbox.name} use the wall clock (limits.clock), but its virtual clock runs at rate ${rate}: the log cannot show how long clients waited. Run the sandbox at rate 1, or set limits.clock to virtual.`,
  )
}

function noRetryAfter(
  sandbox: SandboxClient,
  requests: readonly RequestEntry[],
  match: RequestMatch | undefined,
): string {
  const which = match === undefined ? '' : ` that match ${JSON.stringify(match)}`
  return `No client had to wait: of ${requests.length} requests to ${sandbox.name}${which}, none had a response 429 or 503 with a Retry-After, so this proves nothing. Use up a limit first (sandbox.limits.fill), or arm a fault such as rate-limited.`
}

function breachText(
  sandbox: SandboxClient,
  waits: readonly Wait[],
  breaches: readonly Breach[],
  rate: number,
): string {
  const frozen =
    rate === 0
      ? [
          'The virtual clock is frozen (rate 0), so it does not move while the client waits in real time: advance it during the wait, or give the sandbox a rate: sandboxOptions { rate: 1 }.',
        ]
      : []
  return [
    `Expected every client of ${sandbox.name} to wait as long as Retry-After; ${breaches.length} of ${waits.length} waits were too short:`,
    ...breaches.flatMap(breachLines),
    ...frozen,
    'A request that was sent before the refusal arrived counts, too; a match such as { idempotency_key } selects only one exchange.',
  ].join('\n')
}

function breachLines({ refused, told, until, next }: Breach): string[] {
  const waited = Date.parse(next.at) - Date.parse(refused.at)
  const early = until - Date.parse(next.at)
  return [
    `  ${refused.method} ${refused.path}: ${refused.status} with Retry-After: ${told} at ${refused.at}  ${refused.id}`,
    `    next request after ${waited} ms of virtual time, ${early} ms too early: ${next.status} at ${next.at}  ${next.id}`,
  ]
}
