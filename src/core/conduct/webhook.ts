import { idOf } from '../operation.ts'
import { type Delivery, deliveries } from '../webhooks/records.ts'
import { existing, groupBy } from './observed.ts'
import { family, type Observed } from './verdict.ts'

/** The deliveries to receivers of the client; the inbox is a part of the emulator. */
function deliveriesOf({ sandbox }: Observed): Delivery[] {
  const all = [...sandbox.store.rows(deliveries.name).values()] as Delivery[]
  return all.filter(
    ({ attempts }) => attempts.length > 0 && attempts.every(({ received }) => received === undefined),
  )
}

/** How the receivers of webhooks respond. */
export const receiverFamily = family({
  section: 'Events',
  facts: deliveriesOf,
  oneFor: ({ url }) => url,
  requests: () => [],
  evidence: (bad) => ({ deliveries: bad.map(({ id }) => id) }),
  verdicts: {
    'warning webhook.slow': {
      description: 'The receiver does not respond to a webhook in time.',
      fix: 'Respond first, and do the work afterwards.',
      isBad: ({ attempts, faults }) =>
        faults?.timeout_ms === undefined && attempts.some(({ outcome }) => outcome === 'timeout'),
      message: (bad) =>
        `${bad[0].url} did not respond in time to ${bad.length} webhooks, so they were sent again or given up.`,
    },
    'warning webhook.failing': {
      description: 'The receiver refuses a webhook until it is given up.',
      fix: 'Respond with 2xx as soon as the webhook is stored. Ignore types that you do not know.',
      // Without a status nothing listened, which says nothing about the handler. A wrong signature has to be refused.
      isBad: ({ status, attempts, faults }) =>
        status === 'failed' && typeof attempts.at(-1)?.status === 'number' && faults?.sign === undefined,
      message: (bad) =>
        `${bad[0].url} refused ${bad.length} webhooks until they were given up, the last one with ${bad.at(-1)?.attempts.at(-1)?.status}.`,
    },
    'warning webhook.unverified': {
      description: 'The receiver accepts a webhook whose signature is wrong, missing or too old.',
      fix: 'Compare the signature with your own over the raw body, check its time, and respond with 401 if either is wrong.',
      isBad: ({ faults, status }) => faults?.sign !== undefined && status === 'delivered',
      message: (bad) => {
        const signatures = new Set(bad.map(({ faults }) => faults?.sign))
        return `${bad[0].url} accepted ${bad.length} webhooks whose signature was ${[...signatures].join(' or ')}.`
      },
    },
  },
})

/** The same requests about a record that created a record each, for each webhook about it that arrived more than once. */
const effectsOf = (observed: Observed) =>
  [...groupBy(deliveriesOf(observed), ({ id, faults }) => faults?.copy_of ?? id)].flatMap(([id, all]) => {
    const arrivals = all
      .flatMap(({ attempts }) => attempts.map(({ at }) => Date.parse(at)))
      .sort((a, b) => a - b)
    const [first = 0, second = Infinity] = arrivals
    const record = idOf(all[0].ref)
    const creates = observed.requests.filter(
      ({ created, at, entry: { path, body } }) =>
        created.length > 0 && at >= first && JSON.stringify([path, body]).includes(record),
    )
    const same = groupBy(creates, ({ caller, entry, content }) => `${caller} ${entry.path} ${content}`)
    return [...same.values()]
      .filter((requests) => requests[0].at < second && requests.some(({ at }) => at >= second))
      .map((requests) => ({ id, arrivals, requests, records: existing(observed.sandbox, requests) }))
  })

/** Whether a webhook has one effect. */
export const effectFamily = family({
  section: 'Events',
  facts: effectsOf,
  requests: ({ requests }) => requests,
  evidence: ([{ id, arrivals, records }]) => ({ delivery: id, arrivals: arrivals.length, records }),
  verdicts: {
    'warning webhook.repeated': {
      description: 'A webhook that arrives twice has its effect twice.',
      fix: 'Store the id of each delivery, and ignore one that has been handled.',
      isBad: ({ records }) => records.length > 1,
      message: ([{ id, arrivals, requests, records }]) =>
        `The webhook ${id} arrived ${arrivals.length} times, and ${requests[0].name} followed each time: ${records.join(', ')} exist.`,
    },
  },
})
