import { elapsedTime } from '../time/clock.ts'
import { repeatsIn } from './calls.ts'
import { type Gap, type ObservedRequest, spanText } from './observed.ts'
import { family, type Observed } from './verdict.ts'

/** Whether the client opened a new connection for its next attempt, while that of the failed one was open and idle for ever. */
function isLeft({ from, to }: Gap): boolean {
  const [a, b] = [from.entry.evidence, to.entry.evidence]
  if (a?.end !== 'whole' || b === undefined || a.connection === b.connection) return false
  const { closed_ms, requests } = a.connection
  const isOpen = closed_ms === null || closed_ms > b.arrived_ms
  return isOpen && requests === a.requests_before + 1 && b.connection.opened_ms >= (a.ended_ms ?? 0)
}

/** Whether a client leaves connections open. */
export const connectionFamily = family({
  section: 'HTTP (RFC 9112, 9.3)',
  facts: repeatsIn,
  oneFor: ({ call }) => call,
  requests: ({ call }) => call.attempts,
  evidence: (left) => ({ connections: left.map(({ from }) => from.entry.evidence?.connection.id ?? '') }),
  verdicts: {
    'warning connection.leaked': {
      description: 'The client leaves the connection of each failed attempt open and never uses it again.',
      fix: 'Read or cancel the body of every response, also of one that is not used.',
      isBad: isLeft,
      message: ([{ call }, ...more]) =>
        more.length === 0
          ? undefined
          : `The client left ${more.length + 1} connections open and unused after failed attempts of ${call.first.name}, and opened a new one for each attempt.`,
    },
  },
})

/** A client that waits this long, in milliseconds of either clock, for the next byte of a body has no timeout for it. */
const HANG = 10_000

/** How long the client has waited for the rest of a response, by the clock that shows more. */
function waitFor({ at, arrived = 0, ended }: ObservedRequest, { sandbox }: Observed) {
  const real = Math.round((ended ?? elapsedTime()) - arrived)
  const virtual = ended === undefined ? sandbox.clock.now - at : 0
  return virtual > real ? { waited_ms: virtual, clock: 'virtual' } : { waited_ms: real, clock: 'real' }
}

/** Whether a client reads a response to its end, and only for so long. */
export const responseFamily = family({
  section: 'Endpoints',
  facts: ({ requests }) => requests,
  requests: (request) => [request],
  evidence: ([{ entry }]) => ({ sent_bytes: entry.evidence?.sent_bytes ?? 0 }),
  verdicts: {
    'warning timeout.body': {
      description: `The client waits longer than ${HANG / 1_000} seconds for a body that has stopped.`,
      section: 'HTTP (RFC 9110, 15.5.9)',
      fix: 'Let the timeout of a call end with the last byte of the body, not with the headers.',
      // A status of 0: no byte of the response was sent, so the timeout for the headers is at fault.
      isBad: (request, observed) =>
        request.entry.evidence?.end === 'held' &&
        request.entry.evidence.connection.closed_by !== 'client' &&
        request.entry.status !== 0 &&
        waitFor(request, observed).waited_ms >= HANG,
      message: ([request], observed) =>
        `The body of ${request.name} stopped, and the client waited ${spanText(waitFor(request, observed).waited_ms)} for it${request.ended === undefined ? '' : ', until the emulator gave up'}.`,
      evidence: ([request], observed) => waitFor(request, observed),
    },
    'note stream.abandoned': {
      description: 'The client leaves a stream of results before its end, and does not read it again.',
      fix: 'Read the stream to its end, or fetch it again: a part of it has no error to show.',
      isBad: ({ operation, entry, index, isFaulted }, { requests }) =>
        operation?.media !== undefined &&
        entry.evidence?.end === 'left' &&
        !isFaulted &&
        !requests.some(
          (later) => later.index > index && later.entry.path === entry.path && later.outcome === 'success',
        ),
      message: ([{ name }]) =>
        `The client closed the connection before the end of ${name}, and did not read it again.`,
    },
  },
})
