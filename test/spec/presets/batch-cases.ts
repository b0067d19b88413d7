import { nextTurn } from '../../../src/core/time/real.ts'
import { armed, type PresetCase, type Subject, USERS } from './setup.ts'
import { parse, seen } from './views.ts'

/** The steps of a course: each returns what the client sees. */
const STEPS: Readonly<Record<string, (subject: Subject, path: string) => Promise<string>>> = {
  /** The status of the batch, with the detail of its error, and "without results" if it is completed without a URL of them. */
  poll: async ({ get }, path) => {
    const view = await get(path)
    if (view.status !== 200) return seen(view)
    const { status, error, results_url } = parse(view.body)
    if (status === 'failed') return `failed: ${error.detail}`
    return status === 'completed' && results_url === null ? 'completed without results' : status
  },
  /** How many lines have each status. */
  results: async ({ get }, path) => {
    const view = await get(`${path}/results`)
    if (view.status !== 200) return seen(view)
    const statuses = [...(view.body ?? '').matchAll(/"status":"([a-z]+)"/g)].map(([, status]) => status)
    return [...new Set(statuses)]
      .map((each) => `${statuses.filter((status) => status === each).length} ${each}`)
      .join(' and ')
  },
  cancel: async ({ call }, path) => seen(await call('POST', `${path}/cancel`)),
}

/** Creates a batch of four items; then the steps, or an advance by a duration, and what the client sees. */
function course(preset: string, steps: string, ...expected: readonly string[]): PresetCase {
  return armed(
    preset,
    async (subject) => {
      const path = `/batch-predictions/${await subject.batch({ items: 4 })}`
      const shown: string[] = []
      for (const step of steps.split(' ')) {
        const known = STEPS[step]
        if (known === undefined) await subject.advance(step)
        else shown.push(await known(subject, path))
      }
      return shown
    },
    expected,
  )
}

const UNAVAILABLE = '503 Service Unavailable'

export const batchCases: readonly PresetCase[] = [
  course('batch-instant-terminal', 'poll results', 'completed', '4 succeeded'),
  course('batch-stuck', '23h poll 1h poll', 'in_progress', 'expired'),
  course('batch-404-after-create', 'poll poll poll', '404 Not Found', '404 Not Found', 'validating'),
  course('batch-poll-transient-error', 'poll poll poll', 'validating', UNAVAILABLE, 'validating'),
  course('batch-cancel-racing-completion', 'cancel poll results', '409 Conflict', 'completed', '4 succeeded'),
  course('batch-results-410', '1h poll results', 'completed without results', '410 Results Gone'),
  // The batch still has the URL when it is read.
  course('batch-results-410-race', '1h poll results', 'completed', '410 Results Gone'),
  course('batch-expired-partial', 'poll results', 'expired', '2 succeeded and 2 expired'),
  course('batch-all-errored', '1h poll results', 'completed', '4 errored'),
  course('batch-failed-validation', 'poll', 'failed: Two items refer to files that cannot be read.'),
  course('unknown-terminal-status', 'poll poll results', 'superseded', 'superseded', '4 succeeded'),
]

const statusOf = async ({ get }: Subject) => (await get(USERS)).status

export const keyCases: readonly PresetCase[] = [
  armed(
    'token-expired-mid-session',
    async (subject) => [await statusOf(subject), await statusOf(subject), await statusOf(subject)],
    [200, 200, 401],
  ),
  armed('token-revoked', async (subject) => [await statusOf(subject), await statusOf(subject)], [401, 401]),
]

export const gateCases: readonly PresetCase[] = [
  armed(
    'gate',
    async ({ get, sandbox: { log, faults } }) => {
      const view = get(USERS)
      while (faults.gates.size === 0) await nextTurn()
      const logged = log.size
      faults.gates.release(faults.gates.held())
      return [logged, (await view).status]
    },
    [0, 200],
  ),
]
