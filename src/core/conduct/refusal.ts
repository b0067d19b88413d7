import { errorKinds } from '../error-kinds.ts'
import { hasSameBody } from './attempt.ts'
import { type Gap, groupBy } from './observed.ts'
import { family, type Observed } from './verdict.ts'

/** Reads of a record that was just created, and milliseconds between them, unless they grow by this factor. */
const [READS_AFTER_WRITE, PAUSE, GROWTH] = [5, 100, 1.25]
/** A client that waits for a record: least milliseconds between reads, their number, and milliseconds in all. */
const [SLOW, MAX_READS, MAX_WAIT] = [1_000, 60, 10 * 60_000]
/** Milliseconds by which timers are early, and repetitions after a record that had answered before. */
const [INEXACT, AFTER_SUCCESS] = [10, 3]
/** A repetition may have another result: a key becomes valid, a permission is given. */
const ONCE = [401, 403, 409]

/** The repetitions of each call after one final refusal, if they are too many. */
function pointlessIn({ calls, requests, retries = 0 }: Observed) {
  const read = new Map<string, number>()
  for (const { outcome, entry, index } of requests)
    if (outcome === 'success' && !read.has(entry.path)) read.set(entry.path, index)
  return calls.flatMap((call) => {
    const hadAnswered = (read.get(call.first.entry.path) ?? Number.POSITIVE_INFINITY) < call.first.index
    const final = call.repeats.filter(isFinal)
    return [...groupBy(final, ({ from }) => from.entry.status)].flatMap(([status, repeats]) => {
      const wasRead = status === 404 && hadAnswered
      let free = wasRead ? AFTER_SUCCESS : patienceOf(repeats)
      // A test that sends the same wrong request twice looks the same as a retry.
      if (status !== 404) free = ONCE.includes(status) || !(call.isCertain || retries > 0) ? 1 : 0
      const isPoll = call.isPaced && status !== 404 && !ONCE.includes(status)
      return isPoll || repeats.length <= free ? [] : [{ ...call, status, wasRead, count: repeats.length }]
    })
  })
}

/** Whether a request is repeated unchanged after a refusal that cannot pass: every one but some conflicts. */
function isFinal({ from, to }: Gap): boolean {
  const { status, error, response } = from.entry
  const isListed = errorKinds.get(error?.code ?? '')?.retryable === false
  const isKnown = status !== 409 || isListed || /"retryable": *false/.test(response?.show().body ?? '')
  return from.outcome === 'refused' && isKnown && from.key === to.key && hasSameBody(from, to)
}

/** How many repetitions a client may send that waits for a record which has never answered. */
function patienceOf(repeats: readonly Gap[]): number {
  const gaps = repeats.map(({ real = 0, virtual }) => Math.max(real, virtual))
  const [first = 0] = gaps
  let [waited, longest] = [0, 0]
  const end = gaps.findIndex((gap, n) => {
    waited += gap
    longest = Math.max(longest, gap)
    // Two gaps are no pace yet.
    if (n < READS_AFTER_WRITE) return n > 1 && gap < PAUSE - INEXACT && longest <= first * GROWTH
    return gap < SLOW - INEXACT || n >= MAX_READS || waited > MAX_WAIT
  })
  return end < 0 ? gaps.length : end
}

/** Whether a client stops after a refusal that a repetition cannot change. */
export const refusalFamily = family({
  section: 'Errors / Standard error body',
  facts: pointlessIn,
  requests: ({ attempts }) => attempts,
  evidence: ([{ attempts, status }]) => ({ attempts: attempts.length, status }),
  verdicts: {
    'warning retry.pointless': {
      description: 'The client repeats a request unchanged after a refusal that cannot change.',
      fix: 'Repeat only if the error has retryable: true, or the status is 408, 425, 429, or 5xx but 501. After 401 or 403, once; then send another key. After 404, wait a second or longer between reads, for a minute at most, and stop after three if the record was there before. A 409 for a key that was used with another body stays.',
      isBad: () => true,
      message: ([{ first, status, wasRead, count }]) =>
        `${first.name} was refused with ${status}, ${wasRead ? 'although the record had answered before' : 'which a repetition cannot change'}; the client sent it ${count + 1} times.`,
    },
  },
})
