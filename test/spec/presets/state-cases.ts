import { nextTurn } from '../../../src/core/time/real.ts'
import { armed, type PresetCase, USERS } from './preset-case.ts'
import type { Subject } from './setup.ts'
import { answered, parse } from './views.ts'

const BATCHES = '/batch-predictions'
const VIEWS = '/data-views?limit=2&offset='

async function poll(subject: Subject, id: string) {
  const view = await subject.get(`${BATCHES}/${id}`)
  return view.status === 200 ? parse(view.body)?.status : answered(view)
}

/** The number of result lines, or what is said instead. */
async function results(subject: Subject, id: string) {
  const view = await subject.get(`${BATCHES}/${id}/results`)
  return view.status === 200 ? (view.body ?? '').split('\n').length - 1 : answered(view)
}

const idsOf = ({ data }: { data: { id: string }[] }) => data.map(({ id }) => id)

/** Follows the cursors of a list for some pages; each page as the cursor that it names and `has_more`. */
function cursors(preset: string, expected: readonly (string | undefined)[]): PresetCase {
  const run = async (subject: Subject) => {
    const seen: (string | undefined)[] = []
    for (let after = ''; seen.length < expected.length; ) {
      const view = await subject.get(`${USERS}${after}`)
      const { data = [], has_more } = parse(view.body)
      seen.push(has_more === true ? data.at(-1)?.id : `status ${view.status}`)
      after = `&after=${data.at(-1)?.id}`
    }
    return seen
  }
  return armed(preset, run, expected)
}

const TEN = Array.from({ length: 10 }, (_, n) => n)

export const listCases: readonly PresetCase[] = [
  cursors('page-cursor-repeated', ['user-outsider', ...TEN.map(() => 'user-again'), 'status 400']),
  cursors('page-cursor-cycle', [
    'user-outsider',
    ...TEN.map((n) => (n % 2 === 0 ? 'user-there' : 'user-back')),
    'status 400',
  ]),
  armed(
    'page-empty-has-more',
    async ({ read }) => {
      const { data, has_more } = await read(USERS)
      return [data, has_more, (await read(USERS)).data.length]
    },
    [[], true, 2],
  ),
  armed(
    'page-cursor-deleted',
    async ({ read, call, sandbox }) => {
      const last = idsOf(await read(USERS)).at(-1) ?? ''
      const next = idsOf(await read(`${USERS}&after=${last}`))
      // A user of the first page, which the client still has, no longer exists.
      const removal = await call('DELETE', `/organization/teamspaces/ts-a/users/${last}`)
      return { next, removal: answered(removal), kept: sandbox.store.get('users', last) }
    },
    { next: ['user-member'], removal: { status: 404, code: 'not_found' }, kept: undefined },
  ),
  armed(
    'page-rows-shift',
    async ({ read }) => {
      const [first, second] = [idsOf(await read(`${VIEWS}0`)), idsOf(await read(`${VIEWS}2`))]
      return [first.at(-1) === second[0], second.length]
    },
    [true, 2],
  ),
]

export const batchCases: readonly PresetCase[] = [
  armed(
    'batch-instant-terminal',
    async (subject) => {
      const { id, status } = await subject.created()
      return [status, await poll(subject, id), await results(subject, id)]
    },
    ['validating', 'completed', 3],
  ),
  armed(
    'batch-stuck',
    async (subject) => {
      const { id } = await subject.created()
      await subject.advance('23h')
      const stuck = await poll(subject, id)
      await subject.advance('1h')
      return [stuck, await poll(subject, id)]
    },
    ['in_progress', 'expired'],
  ),
  ...[
    ['batch-404-after-create', { status: 404, code: 'Not Found' }, { status: 404, code: 'Not Found' }],
    ['batch-poll-transient-error', 'validating', { status: 503, code: 'Service Unavailable' }],
  ].map(([preset, ...polls]) =>
    armed(
      preset as string,
      async (subject) => {
        const { id } = await subject.created()
        return [await poll(subject, id), await poll(subject, id), await poll(subject, id)]
      },
      [...polls, 'validating'],
    ),
  ),
  armed(
    'batch-cancel-racing-completion',
    async (subject) => {
      const { id } = await subject.created()
      const { status } = await subject.call('POST', `${BATCHES}/${id}/cancel`)
      return [status, await poll(subject, id), await results(subject, id)]
    },
    [409, 'completed', 3],
  ),
  ...[
    ['batch-results-410', true] as const,
    // The batch still has the URL when it is read.
    ['batch-results-410-race', false] as const,
  ].map(([preset, isGone]) =>
    armed(
      preset,
      async (subject) => {
        const id = await subject.finished()
        const { status, results_url } = await subject.read(`${BATCHES}/${id}`)
        return [status, results_url === null, await results(subject, id)]
      },
      ['completed', isGone, { status: 410, code: 'Results Gone' }],
    ),
  ),
  armed(
    'batch-expired-partial',
    async (subject) => {
      const id = await subject.batch({ items: 4 })
      const { status, request_counts } = await subject.read(`${BATCHES}/${id}`)
      return [status, request_counts.succeeded, request_counts.expired, await results(subject, id)]
    },
    ['expired', 2, 2, 4],
  ),
  armed(
    'batch-all-errored',
    async (subject) => {
      const { id } = await subject.created()
      await subject.advance('1h')
      const { status, request_counts } = await subject.read(`${BATCHES}/${id}`)
      const { body = '' } = await subject.get(`${BATCHES}/${id}/results`)
      const statuses = body.match(/"status":"errored"/g)
      return [status, request_counts.errored, statuses?.length, (await subject.created()).status]
    },
    ['completed', 3, 3, 'validating'],
  ),
  armed(
    'batch-failed-validation',
    async (subject) => {
      const { id } = await subject.created()
      const { status, error } = await subject.read(`${BATCHES}/${id}`)
      return [status, error.detail]
    },
    ['failed', 'Two items refer to files that cannot be read.'],
  ),
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

export const keyCases: readonly PresetCase[] = [
  armed(
    'token-expired-mid-session',
    async ({ get }) => {
      const seen = []
      for (let n = 0; n < 4; n++) seen.push((await get(USERS)).status)
      return seen
    },
    [200, 200, 401, 401],
  ),
  {
    preset: 'token-revoked',
    run: async ({ get, arm }) => {
      const before = (await get(USERS)).status
      await arm('token-revoked')
      return [before, (await get(USERS)).status, (await get(USERS)).status]
    },
    expected: [200, 401, 401],
  },
]
