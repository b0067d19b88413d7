import { limitClock } from '../core-assumptions.ts'
import { repeatsIn } from './calls.ts'
import { type Group, readRetryAfter, spanText } from './observed.ts'
import { family, type Observed } from './verdict.ts'

/** Real milliseconds by which a retry may be early, since timers of clients are not exact. */
const INEXACT = 10
/** The same for a date: the clock of the client and that of the sandbox differ by the time in which the sandbox was made. */
const INEXACT_DATE = 100
/** A shorter real wait is none: it is the time of the requests themselves. */
const NONE = 50
/** The first wait of a client without a valid header, in milliseconds. Specification: back-off from 1 second. */
const BACK_OFF = 1_000
/** A client that waits this long has no cap. Specification: back-off up to 60 seconds. */
const CAP = 30 * 60_000
/** Nobody waits longer for a response: a client may give up, or use its own back-off. */
const NONSENSE = 60 * 60_000

type Wait = ReturnType<typeof waitsOf>[number]

/** The waits of clients after each 429 and 503. */
function waitsOf(observed: Observed) {
  const { rate } = observed.sandbox.clock
  return repeatsIn(observed).flatMap((repeat) => {
    const { from, to, real, virtual } = repeat
    const { status, settings } = from.entry
    if (from.outcome !== 'transient' || (status !== 429 && status !== 503)) return []
    const isWall = settings.get(limitClock) === 'wall'
    if (real === undefined && (virtual === 0 || isWall)) {
      observed.skip(`${to.id}: its real time is not known, so its wait was not judged.`)
      return []
    }
    const { ms: waited, clock } = isWall ? { ms: real ?? 0, clock: 'real' } : repeat
    // A clock that only a test moves shows the exact wait, without the time of the requests.
    const isExact = real === undefined || (rate === 0 && clock === 'virtual')
    const isNone = isExact ? waited <= 1 : real < NONE
    const { retryAfter } = from
    const { isDate, isVague, due } = readRetryAfter(retryAfter ?? '', from.at)
    const promised = due ?? 0
    // A client that has waited by one of the clocks is right: it cannot know which one a test moves.
    // A client may take a fraction for a missing header.
    const least = isVague ? Math.min(promised, BACK_OFF) : promised
    const inexact = isDate ? INEXACT_DATE : INEXACT
    const isEarly =
      (real ?? 0) < least - inexact &&
      (isWall || virtual < least - inexact * Math.max(1, rate)) &&
      (promised <= NONSENSE || isNone)
    // Some wait is due after a header without a meaning, and after every 429.
    const isDue = isEarly || (due === undefined && (retryAfter !== undefined || status === 429))
    return [
      { ...repeat, status, retryAfter, isDate, isVague, promised, waited, clock, isEarly, isNone, isDue },
    ]
  })
}

function waitText([{ from, status, retryAfter, waited, clock }, ...more]: Group<Wait>, problem: string) {
  const header = retryAfter === undefined ? 'no Retry-After' : `Retry-After: ${retryAfter}`
  const others = more.length === 0 ? '' : ` ${more.length + 1} waits of this call were like this.`
  return `${from.name} was refused with ${status} and ${header}; the client ${problem} after ${spanText(waited)} by the ${clock} clock.${others}`
}

const earlyBy = ([{ promised, waited }]: Group<Wait>) => spanText(promised - waited)

/** How a client waits before it repeats a refused request. */
export const waitFamily = family({
  section: 'Limits / Rate limits',
  facts: waitsOf,
  oneFor: ({ call }) => call,
  requests: ({ from, to }) => [from, to],
  evidence: ([{ retryAfter, promised, waited, clock }, ...more]) => ({
    ...(retryAfter !== undefined && { retry_after: retryAfter }),
    ...{ promised_ms: promised, waited_ms: waited, clock, waits: more.length + 1 },
  }),
  // An error only if it is certain that the repetition is a retry.
  weigh: ([{ call, isVague }], { retries = 0 }) =>
    call.isPaced || isVague ? 'note' : call.isCertain || retries > 0 ? 'error' : 'warning',
  verdicts: {
    'error wait.none': {
      description: 'The client repeats a refused request without a wait.',
      fix: 'Wait as many seconds as Retry-After says. If it is missing or cannot be parsed, back off from 1 second. Check the bounds of timers: a delay over 2^31 - 1 ms fires at once in JavaScript.',
      isBad: ({ isDate, isNone, isDue }) => isNone && isDue && !isDate,
      message: (bad) => waitText(bad, 'repeated it'),
    },
    'error wait.too-short': {
      description: 'The client repeats a refused request before Retry-After has passed.',
      fix: 'Wait as many seconds as Retry-After says, also if it is more than your own back-off. If it is too long for the caller, give up.',
      isBad: ({ isDate, isEarly, isNone }) => isEarly && !isDate && !isNone,
      message: (bad) => waitText(bad, `came back ${earlyBy(bad)} too early,`),
    },
    'warning wait.date-ignored': {
      description: 'The client repeats a refused request before the date in Retry-After.',
      section: 'HTTP (RFC 9110, 10.2.3)',
      fix: 'Parse both forms of Retry-After. Compare a date with the header Date of the same response, not with the clock of your machine.',
      isBad: ({ isDate, isEarly }) => isEarly && isDate,
      message: (bad) => waitText(bad, `came back ${earlyBy(bad)} before that date,`),
      // A client that uses the clock of its machine ignores no date: the server cannot know which of the two it was.
      weigh: ([{ call }]) => (call.isPaced ? 'note' : 'warning'),
    },
    'note wait.uncapped': {
      description: 'The client waits half an hour or longer, because the server said so.',
      fix: 'Cap the wait, and give up if Retry-After is longer than the caller can wait.',
      // With a fast clock, a short sleep is a long virtual time.
      isBad: ({ promised, waited, clock }, { sandbox }) =>
        promised >= CAP && waited >= CAP && (clock === 'real' || sandbox.clock.rate <= 1),
      message: (bad) => waitText(bad, 'repeated it'),
      weigh: () => 'note',
    },
  },
})
