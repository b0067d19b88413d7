import { mayBeAttempt } from './attempt.ts'
import type { ObservedCall } from './calls.ts'
import { type ObservedRequest, runsOf, spanText } from './observed.ts'
import { family, type Observed } from './verdict.ts'

/** More attempts than these come from two layers that both repeat. */
const MANY = 10
/** A shorter wait, in milliseconds, is no sign of a schedule. */
const LEAST_WAIT = 100
/** After a longer wait, in milliseconds, a client may give up. */
export const MAX_WAIT = 60_000
/** The most requests after a call that are searched for another attempt. */
const NEAR = 1_000
/** The least number of calls that are repeated together, and the milliseconds within which they are. */
const [HERD, TOGETHER] = [5, 10]

function retriedCall(call: ObservedCall) {
  const retries = call.repeats.filter(({ from }) => from.hasFailed)
  const own = retries.filter(({ from }) => from.retryAfter === undefined)
  return {
    ...call,
    /** The repetitions after attempts that can succeed later. */
    count: retries.length,
    /** The waits without a Retry-After, which the client has chosen itself. */
    waits: own.map(({ ms }) => ms),
    instant: call.repeats[0]?.instant ?? 0,
  }
}

/** The calls whose repetitions are retries, as far as the server can tell. Those of one herd come back together. */
function retriedCalls({ calls }: Observed) {
  const retried = calls.filter(({ isPaced }) => !isPaced).map(retriedCall)
  retried.sort((a, b) => a.instant - b.instant)
  const herds = runsOf(retried, ({ instant }, [first]) => instant - first.instant <= TOGETHER)
  return herds.flatMap((herd) => herd.map((call) => ({ ...call, herd })))
}

/** Whether a client that repeats calls has to repeat this request, and has no reason to give up. */
function isWorthRepeating(request: ObservedRequest): boolean {
  const { status, method, evidence, faults } = request.entry
  const end = evidence?.end ?? faults?.sent?.end
  if (!request.hasFailed || status === 409 || end === 'left' || end === 'held') return false
  if (request.wait > MAX_WAIT) return false
  // The methods that may be repeated without a key (RFC 9110, 9.2.2).
  const isIdempotent = ['GET', 'HEAD', 'PUT', 'DELETE'].includes(method) || request.key !== undefined
  return isIdempotent || status === 429 || status === 503
}

// A poll goes on during a failure: it reads at a steady pace that no Retry-After explains.
function isPoll({ isCertain, first, repeats, waits }: ReturnType<typeof retriedCall>): boolean {
  const [shortest = 0, ...longer] = waits.toSorted((a, b) => a - b)
  const isSteady = shortest >= 500 && longer.every((ms) => ms <= shortest * 1.5)
  return isSteady && waits.length === repeats.length && !isCertain && first.entry.method === 'GET'
}

/** Whether a client repeats what can succeed later, and nothing else, and when. */
export const retryFamily = family({
  section: 'Limits / Rate limits',
  facts: retriedCalls,
  requests: ({ attempts }) => attempts,
  evidence: ([{ attempts }]) => ({ attempts: attempts.length }),
  verdicts: {
    'note retry.missing': {
      description: 'The client gives up a call that a retry could save; an error if retries were declared.',
      fix: 'Repeat 429 and 503, and every failure of a request that has no second effect. Retry-After: 0 means at once, not never.',
      isBad: ({ repeats, count, last }, { retries, requests }) =>
        (retries === undefined ? repeats.length === 0 : count < retries) &&
        isWorthRepeating(last) &&
        !requests.slice(last.index + 1, last.index + NEAR).some((next) => mayBeAttempt(last, next)),
      oneFor: ({ last: { entry } }) => `${entry.operation} ${entry.status}`,
      message: ([{ last }, ...more], { retries }) => {
        const { outcome, entry } = last
        const how = outcome === 'unanswered' ? 'got no whole response' : `was refused with ${entry.status}`
        const declared = retries === undefined ? '' : `, although ${retries} retries were declared`
        const others = more.length === 0 ? '' : ` ${more.length + 1} calls ended like this.`
        return `${last.name} ${how}, and the client did not repeat it${declared}.${others}`
      },
      weigh: (_, { retries }) => (retries === undefined ? 'note' : 'error'),
      requests: ({ last }) => [last],
      evidence: ([{ last }, ...more]) => ({ status: last.entry.status, calls: more.length + 1 }),
    },
    'error retry.over-budget': {
      description: 'The client repeats a call more often than was declared.',
      fix: 'Count the attempts of one call in one place, failures of the connection included.',
      isBad: ({ count }, { retries = Number.POSITIVE_INFINITY }) => count > retries,
      message: ([{ first, count }], { retries }) =>
        `${first.name} was repeated ${count} times; ${retries} were declared.`,
    },
    'warning retry.amplified': {
      description: `The client sends one call more than ${MANY} times, as when a library and its wrapper both repeat.`,
      fix: 'Let one layer repeat, and switch the retries of the other off.',
      isBad: (call, { retries = 0 }) =>
        call.count >= Math.max(MANY, retries + 1) && call.count === call.repeats.length && !isPoll(call),
      message: ([{ first, attempts }]) => `${first.name} was sent ${attempts.length} times for one call.`,
    },
    'note retry.no-growth': {
      description: 'The waits of the client between attempts without Retry-After do not grow.',
      fix: 'Back off from 1 second, and double the wait up to 60 seconds.',
      isBad: ({ waits: [first = 0, ...more] }) => more.length > 1 && (more.at(-1) ?? 0) < first * 1.5,
      message: ([{ first, waits }]) =>
        `${first.name} was repeated after waits that did not grow: ${spanText(waits[0] ?? 0)} at first, ${spanText(waits.at(-1) ?? 0)} at last.`,
    },
    'note retry.no-jitter': {
      description: 'The first waits of several calls are equal.',
      fix: 'Add a random part to every wait of your own.',
      isBad: ({ waits: [wait = 0] }) => wait >= LEAST_WAIT,
      oneFor: () => 'all',
      message: (all) => {
        const [shortest = 0, ...longer] = all.map(({ waits: [wait = 0] }) => wait).sort((a, b) => a - b)
        // Timers of clients differ by a few milliseconds.
        if (longer.length < 2 || (longer.at(-1) ?? 0) > shortest + 5) return undefined
        return `The first waits of ${all.length} calls are equal: ${spanText(shortest)}. Clients that fail together also come back together.`
      },
      requests: ({ attempts }) => attempts.slice(0, 2),
      evidence: (all) => ({ calls: all.length, wait_ms: all[0].waits[0] ?? 0 }),
    },
    'note herd.lockstep': {
      description: `At least ${HERD} calls are repeated in the same ${TOGETHER} ms.`,
      fix: 'Add a random part to the wait of each client; never subtract from Retry-After.',
      isBad: ({ first, repeats: [repeat] }) =>
        repeat !== undefined && repeat.ms >= LEAST_WAIT && first.retryAfter !== undefined,
      oneFor: ({ herd }) => herd,
      message: ({ length }) =>
        length < HERD
          ? undefined
          : `${length} calls were repeated within ${TOGETHER} ms, after waits that the server had given.`,
      requests: ({ attempts }) => attempts.slice(1, 2),
      evidence: ({ length }) => ({ calls: length, within_ms: TOGETHER }),
    },
  },
})
