import type { RequestEntry, RequestMatch, SandboxClient } from '../../index.ts'
import type { MatcherResult } from './matcher-result.ts'
import { inSandbox } from './report.ts'
import { type Wait, waitsAmong } from './waits.ts'

/** Real milliseconds by which a retry may come early: timers of clients are as inexact as that. */
const INEXACT = 10

/** All that a log can hold. */
const ALL = 100_000

/** A wait that was not kept, and the request that did not keep it. */
interface Breach extends Wait {
  readonly next: RequestEntry
}

/**
 * Whether each client that was told to wait has waited: behind every 429 and 503 with a Retry-After, the next request with the
 * same key, method and path has come no earlier than that, by the virtual instants of the log. Specification: Limits / Rate limits.
 * Rejects where nobody was told to wait, and where the log cannot know.
 * @param match both must fit it, the refusal and what follows it; a `status` in it chooses refusals alone
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
  if (waits.length === 0) throw new Error(nobodyWasTold(sandbox, requests, match))
  await refuseWallClock(sandbox, rate)
  const followers = await fitting(sandbox, log, withoutStatus(match))
  const breaches = waits.flatMap((wait) => breachOf(wait, followers, INEXACT * rate))
  // A breach is one, whatever else there was; without any, one may have been forgotten.
  if (breaches.length === 0 && dropped > 0) {
    throw new Error(
      `Nobody can tell whether every client of ${sandbox.name} has waited: its log keeps the newest ${capacity} requests and has dropped ${dropped}. Check before so many have come, or empty the log where what counts begins (sandbox.requests.clear).`,
    )
  }
  return {
    pass: breaches.length === 0,
    message: () =>
      breaches.length === 0
        ? `Expected a client of ${sandbox.name} not to have waited as long as Retry-After asked, but each of ${waits.length} waits was kept.`
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

// A status chooses refusals. What follows one is held against it whatever became of it.
function withoutStatus({ status: _, ...match }: RequestMatch = {}): RequestMatch | undefined {
  return Object.values(match).some((criterion) => criterion !== undefined) ? match : undefined
}

function breachOf(wait: Wait, followers: readonly RequestEntry[], early: number): Breach[] {
  const { refused, until } = wait
  const at = followers.findIndex(({ id }) => id === refused.id)
  const next = followers.slice(at + 1).find((each) => isSameKind(each, refused))
  return next === undefined || Date.parse(next.at) >= until - early ? [] : [{ ...wait, next }]
}

// What one rate window is about: a teamspace, by its key, an endpoint path and a method.
function isSameKind(a: RequestEntry, b: RequestEntry): boolean {
  return a.method === b.method && a.path === b.path && a.caller?.key_id === b.caller?.key_id
}

// Requests have virtual instants alone; at rate 1 these pass as those of the wall do.
async function refuseWallClock(sandbox: SandboxClient, rate: number): Promise<void> {
  if (rate === 1) return
  const { values } = await sandbox.settings.show()
  if (values['limits.clock'] !== 'wall') return
  throw new Error(
    `The rate limits of ${sandbox.name} go by the wall clock (limits.clock), and its virtual clock runs at rate ${rate}: the log cannot tell how long anybody waited. Run the sandbox at rate 1, or let limits.clock be virtual.`,
  )
}

function nobodyWasTold(
  sandbox: SandboxClient,
  requests: readonly RequestEntry[],
  match: RequestMatch | undefined,
): string {
  const which = match === undefined ? '' : ` that match ${JSON.stringify(match)}`
  return `Nobody was told to wait: of ${requests.length} requests to ${sandbox.name}${which} none was answered 429 or 503 with a Retry-After, so that nothing is proved. Use up a limit first (sandbox.limits.fill), or arm a fault such as rate-limited.`
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
          'The virtual clock stands still (rate 0), so that no waiting in real time lets any of it pass: advance it while the client waits, or give the sandbox a rate: sandboxOptions { rate: 1 }.',
        ]
      : []
  return [
    `Expected every client of ${sandbox.name} to wait as long as Retry-After asks; ${breaches.length} of ${waits.length} waits were not kept:`,
    ...breaches.flatMap(breachLines),
    ...frozen,
    'A request that was on its way before the refusal came counts too; a match such as { idempotency_key } looks at one exchange alone.',
  ].join('\n')
}

function breachLines({ refused, told, until, next }: Breach): string[] {
  const waited = Date.parse(next.at) - Date.parse(refused.at)
  const early = until - Date.parse(next.at)
  return [
    `  ${refused.method} ${refused.path}: ${refused.status} with Retry-After: ${told} at ${refused.at}  ${refused.id}`,
    `    came again after ${waited} ms of virtual time, ${early} ms too early: ${next.status} at ${next.at}  ${next.id}`,
  ]
}
