import { bodyBytes, bodyRemains, hasSameBody, isRecoded, requestChanges } from './attempt.ts'
import { repeatsIn } from './calls.ts'
import type { Group } from './observed.ts'
import { family, type Observed } from './verdict.ts'

/** Each repetition of a failed attempt, with what the client has changed in it. */
const changedRepeats = (observed: Observed) =>
  repeatsIn(observed)
    .filter(({ from }) => from.hasFailed)
    .map(({ from, to, call }) => {
      const isOther = !hasSameBody(from, to) && !isRecoded(from, to)
      const body = bodyRemains(from, to) ?? (isOther ? 'was another one' : undefined)
      return { from, to, call, body, request: requestChanges(from, to) }
    })

type Changed = ReturnType<typeof changedRepeats>[number]
function changeText({ from, to, call }: Changed, change: string): string {
  const isSame = call.isCertain && from.key !== undefined && from.key === to.key
  return `${from.name} failed, and the client sent it again${isSame ? ' with the same Idempotency-Key' : ''}, but ${change}.`
}

/** Whether every attempt of a call is the same request. */
export const changeFamily = family({
  section: 'Limits',
  facts: changedRepeats,
  oneFor: ({ call }) => call,
  requests: ({ from, to }) => [from, to],
  evidence: ([{ from, to }]: Group<Changed>) => ({ first_bytes: bodyBytes(from), next_bytes: bodyBytes(to) }),
  // Without a key or a marker, the client may have sent another request on purpose.
  weigh: ([{ call }]) => (call.isCertain ? 'error' : 'warning'),
  verdicts: {
    'error body.changed': {
      description:
        'The client repeats a failed request with another body: an empty, cut, or twice encoded one.',
      fix: 'Encode the body once, keep it in memory, and send the same bytes with each attempt. A stream can be read once: create it again.',
      isBad: ({ body }) => body !== undefined,
      message: ([first]) => changeText(first, `its body ${first.body}`),
    },
    'error request.changed': {
      description:
        'The client repeats a failed request with another type or query, or without its Authorization header; a note if a read has only lost parameters.',
      section: 'Endpoints',
      fix: 'Build the request once, and send it with the same URL and the same headers in every attempt.',
      isBad: ({ request }) => request.length > 0,
      message: ([first]) => changeText(first, `the request ${first.request.join(' and ')}`),
      weigh: ([{ call, from, request }]) => {
        // A page that drops a filter after a failure looks the same.
        const mayBeMeant = from.content === '' && request.every((each) => each.startsWith('had lost'))
        return call.isCertain ? 'error' : mayBeMeant ? 'note' : 'warning'
      },
      evidence: ([{ request }]) => ({ changes: request }),
    },
  },
})
