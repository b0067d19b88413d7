import { idOf } from '../operation.ts'
import { groupBy } from './observed.ts'
import { family, type Observed } from './verdict.ts'

/** The records that requests have created, with the reads of their results and the number of those that were removed. */
const createdJobs = ({ requests, sandbox: { service, store, clock } }: Observed) =>
  [...service.operations.values()].flatMap(({ name, results }) => {
    if (!results) return []
    const reads = requests.filter(({ entry }) => entry.operation === name)
    const readsOf = groupBy(reads, ({ entry }) => results.ref(entry.params))
    const created = requests.flatMap((request) => request.created.map((ref) => ({ request, ref })))
    return created.map(({ request, ref }) => {
      const row = store.get(ref.slice(0, ref.indexOf('/')), idOf(ref))
      return { request, ref, own: readsOf.get(ref) ?? [], items: row ? results.lost(row, clock.now) : 0 }
    })
  })

/** Whether a client fetches what it has asked for. */
export const resultFamily = family({
  section: 'Endpoints',
  facts: createdJobs,
  requests: ({ request, own }) => [request, ...own],
  evidence: ([{ ref, items }]) => ({ record: ref, items }),
  verdicts: {
    'note job.results-unread': {
      description:
        'A job has ended with finished items, and its results were removed before the client has read them.',
      fix: 'Read the results when the job has ended: poll it, or use the webhook. They are kept for a limited time.',
      isBad: ({ items, own }) => items > 0 && !own.some(({ entry }) => entry.status === 200),
      message: ([{ ref, items }]) =>
        `The results of ${ref} were removed with ${items} finished items, and no request has read them.`,
    },
  },
})
