import { aBatch } from '../../support/batches.ts'
import { type PresetCase, USERS } from './preset-case.ts'
import type { Stage } from './stage.ts'
import { answered, parse } from './views.ts'

const VIEWS = '/data-views?limit=2&offset='

async function poll(stage: Stage, id: string) {
  const view = await stage.call('GET', `/batch-predictions/${id}`)
  return view.status === 200 ? parse(view.body)?.status : answered(view)
}

async function results(stage: Stage, id: string) {
  const view = await stage.call('GET', `/batch-predictions/${id}/results`)
  return view.status === 200 ? (view.body ?? '').split('\n').length - 1 : answered(view)
}

async function created(stage: Stage) {
  const view = await stage.call('POST', '/batch-predictions', { json: aBatch() })
  const { id, status } = parse(view.body)
  return { id: id as string, status: status as string }
}

const NOT_FOUND = { status: 404, code: 'Not Found' }
const GONE = { status: 410, code: 'Results Gone' }

/** A case whose preset is armed before anything is sent. */
function stateCase(preset: string, run: (stage: Stage) => Promise<unknown>, expected: unknown): PresetCase {
  const armed = async (stage: Stage) => {
    await stage.arm(preset)
    return run(stage)
  }
  return { preset, run: armed, expected }
}

const PEOPLE = '/organization/teamspaces/ts-a/users'

function isGone({ sandbox }: Stage, user: string): boolean {
  return sandbox.store.get('users', user) === undefined
}

/** Follows the cursors of a list for some pages; each page as the cursor that it names and `has_more`. */
function cursors(preset: string, expected: readonly (string | undefined)[]): PresetCase {
  const run = async (stage: Stage) => {
    const seen: (string | undefined)[] = []
    for (let after = ''; seen.length < expected.length; ) {
      const view = await stage.call('GET', `${USERS}${after}`)
      const { data = [], has_more } = parse(view.body)
      seen.push(has_more === true ? data.at(-1)?.id : `status ${view.status}`)
      after = `&after=${data.at(-1)?.id}`
    }
    return seen
  }
  return stateCase(preset, run, expected)
}

const TEN = Array.from({ length: 10 }, (_, n) => n)

export const listCases: readonly PresetCase[] = [
  cursors('page-cursor-repeated', ['user-outsider', ...TEN.map(() => 'user-again'), 'status 400']),
  cursors('page-cursor-cycle', [
    'user-outsider',
    ...TEN.map((n) => (n % 2 === 0 ? 'user-there' : 'user-back')),
    'status 400',
  ]),
  stateCase(
    'page-empty-has-more',
    async (stage) => {
      const [first, second] = [await stage.call('GET', USERS), await stage.call('GET', USERS)]
      const { data, has_more } = parse(first.body)
      return { data, has_more, then: parse(second.body).data.length }
    },
    { data: [], has_more: true, then: 2 },
  ),
  stateCase(
    'page-cursor-deleted',
    async (stage) => {
      const first = parse((await stage.call('GET', USERS)).body)
      const last = first.data.at(-1).id
      const second = await stage.call('GET', `${USERS}&after=${last}`)
      const ids = parse(second.body).data.map(({ id }: { id: string }) => id)
      // A user of the first page, which the client still has, no longer exists.
      const removal = await stage.call('DELETE', `${PEOPLE}/${last}`)
      return { status: second.status, ids, removal: answered(removal), gone: isGone(stage, last) }
    },
    {
      status: 200,
      ids: ['user-member'],
      removal: { status: 404, code: 'not_found' },
      gone: true,
    },
  ),
  stateCase(
    'page-rows-shift',
    async (stage) => {
      const [first, second] = [await stage.call('GET', `${VIEWS}0`), await stage.call('GET', `${VIEWS}2`)]
      const [one, two] = [first, second].map(({ body }) =>
        parse(body).data.map(({ id }: { id: string }) => id),
      )
      return { repeated: one.at(-1) === two[0], rows: two.length }
    },
    { repeated: true, rows: 2 },
  ),
]

export const batchCases: readonly PresetCase[] = [
  stateCase(
    'batch-instant-terminal',
    async (stage) => {
      const { id, status } = await created(stage)
      return { status, polled: await poll(stage, id), lines: await results(stage, id) }
    },
    { status: 'validating', polled: 'completed', lines: 3 },
  ),
  stateCase(
    'batch-stuck',
    async (stage) => {
      const { id } = await created(stage)
      await stage.control('POST', '/clock/advance', { by: '23h' })
      const stuck = await poll(stage, id)
      await stage.control('POST', '/clock/advance', { by: '1h' })
      return { stuck, then: await poll(stage, id) }
    },
    { stuck: 'in_progress', then: 'expired' },
  ),
  stateCase(
    'batch-404-after-create',
    async (stage) => {
      const { id } = await created(stage)
      return [await poll(stage, id), await poll(stage, id), await poll(stage, id)]
    },
    [NOT_FOUND, NOT_FOUND, 'validating'],
  ),
  stateCase(
    'batch-poll-transient-error',
    async (stage) => {
      const { id } = await created(stage)
      return [await poll(stage, id), await poll(stage, id), await poll(stage, id)]
    },
    ['validating', { status: 503, code: 'Service Unavailable' }, 'validating'],
  ),
  stateCase(
    'batch-cancel-racing-completion',
    async (stage) => {
      const { id } = await created(stage)
      const cancel = await stage.call('POST', `/batch-predictions/${id}/cancel`)
      return { cancel: cancel.status, polled: await poll(stage, id), lines: await results(stage, id) }
    },
    { cancel: 409, polled: 'completed', lines: 3 },
  ),
  stateCase(
    'batch-results-410',
    async (stage) => {
      const id = await stage.finished()
      const view = parse((await stage.call('GET', `/batch-predictions/${id}`)).body)
      return { status: view.status, url: view.results_url, results: await results(stage, id) }
    },
    { status: 'completed', url: null, results: GONE },
  ),
  stateCase(
    'batch-results-410-race',
    async (stage) => {
      const id = await stage.finished()
      const view = parse((await stage.call('GET', `/batch-predictions/${id}`)).body)
      return { url: view.results_url !== null, results: await results(stage, id) }
    },
    { url: true, results: GONE },
  ),
  stateCase(
    'batch-expired-partial',
    async (stage) => {
      const id = await stage.batch({ items: 4 })
      const { status, request_counts } = parse((await stage.call('GET', `/batch-predictions/${id}`)).body)
      return { status, request_counts, lines: await results(stage, id) }
    },
    {
      status: 'expired',
      request_counts: { total: 4, processing: 0, succeeded: 2, errored: 0, canceled: 0, expired: 2 },
      lines: 4,
    },
  ),
  stateCase(
    'batch-all-errored',
    async (stage) => {
      const { id } = await created(stage)
      await stage.control('POST', '/clock/advance', { by: '1h' })
      const { status, request_counts } = parse((await stage.call('GET', `/batch-predictions/${id}`)).body)
      const { body } = await stage.call('GET', `/batch-predictions/${id}/results`)
      const statuses = (body ?? '')
        .trim()
        .split('\n')
        .map((line) => parse(line).status)
      return { status, request_counts, statuses, then: (await created(stage)).status }
    },
    {
      status: 'completed',
      request_counts: { total: 3, processing: 0, succeeded: 0, errored: 3, canceled: 0, expired: 0 },
      statuses: ['errored', 'errored', 'errored'],
      then: 'validating',
    },
  ),
  stateCase(
    'batch-failed-validation',
    async (stage) => {
      const { id } = await created(stage)
      const { status, error } = parse((await stage.call('GET', `/batch-predictions/${id}`)).body)
      return { status, detail: error.detail }
    },
    { status: 'failed', detail: 'Two items refer to files that cannot be read.' },
  ),
]

export const keyCases: readonly PresetCase[] = [
  stateCase(
    'token-expired-mid-session',
    async (stage) => {
      const seen = []
      for (let n = 0; n < 4; n++) seen.push((await stage.call('GET', USERS)).status)
      return seen
    },
    [200, 200, 401, 401],
  ),
  {
    preset: 'token-revoked',
    run: async (stage) => {
      const before = (await stage.call('GET', USERS)).status
      await stage.arm('token-revoked')
      return [before, (await stage.call('GET', USERS)).status, (await stage.call('GET', USERS)).status]
    },
    expected: [200, 401, 401],
  },
]
