import { nextTurn } from '../../../src/core/time/real.ts'
import { aBatch } from '../../support/batches.ts'
import { type PresetCase, USERS } from './preset-case.ts'
import type { Subject } from './setup.ts'
import { answered, parse } from './views.ts'

const VIEWS = '/data-views?limit=2&offset='

async function poll(subject: Subject, id: string) {
  const view = await subject.call('GET', `/batch-predictions/${id}`)
  return view.status === 200 ? parse(view.body)?.status : answered(view)
}

async function results(subject: Subject, id: string) {
  const view = await subject.call('GET', `/batch-predictions/${id}/results`)
  return view.status === 200 ? (view.body ?? '').split('\n').length - 1 : answered(view)
}

async function created(subject: Subject) {
  const view = await subject.call('POST', '/batch-predictions', { json: aBatch() })
  const { id, status } = parse(view.body)
  return { id: id as string, status: status as string }
}

const NOT_FOUND = { status: 404, code: 'Not Found' }
const GONE = { status: 410, code: 'Results Gone' }

/** A case whose preset is armed before anything is sent. */
function stateCase(
  preset: string,
  run: (subject: Subject) => Promise<unknown>,
  expected: unknown,
): PresetCase {
  const armed = async (subject: Subject) => {
    await subject.arm(preset)
    return run(subject)
  }
  return { preset, run: armed, expected }
}

const PEOPLE = '/organization/teamspaces/ts-a/users'

function isGone({ sandbox }: Subject, user: string): boolean {
  return sandbox.store.get('users', user) === undefined
}

/** Follows the cursors of a list for some pages; each page as the cursor that it names and `has_more`. */
function cursors(preset: string, expected: readonly (string | undefined)[]): PresetCase {
  const run = async (subject: Subject) => {
    const seen: (string | undefined)[] = []
    for (let after = ''; seen.length < expected.length; ) {
      const view = await subject.call('GET', `${USERS}${after}`)
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
    async (subject) => {
      const [first, second] = [await subject.call('GET', USERS), await subject.call('GET', USERS)]
      const { data, has_more } = parse(first.body)
      return { data, has_more, then: parse(second.body).data.length }
    },
    { data: [], has_more: true, then: 2 },
  ),
  stateCase(
    'page-cursor-deleted',
    async (subject) => {
      const first = parse((await subject.call('GET', USERS)).body)
      const last = first.data.at(-1).id
      const second = await subject.call('GET', `${USERS}&after=${last}`)
      const ids = parse(second.body).data.map(({ id }: { id: string }) => id)
      // A user of the first page, which the client still has, no longer exists.
      const removal = await subject.call('DELETE', `${PEOPLE}/${last}`)
      return { status: second.status, ids, removal: answered(removal), gone: isGone(subject, last) }
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
    async (subject) => {
      const [first, second] = [await subject.call('GET', `${VIEWS}0`), await subject.call('GET', `${VIEWS}2`)]
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
    async (subject) => {
      const { id, status } = await created(subject)
      return { status, polled: await poll(subject, id), lines: await results(subject, id) }
    },
    { status: 'validating', polled: 'completed', lines: 3 },
  ),
  stateCase(
    'batch-stuck',
    async (subject) => {
      const { id } = await created(subject)
      await subject.control('POST', '/clock/advance', { by: '23h' })
      const stuck = await poll(subject, id)
      await subject.control('POST', '/clock/advance', { by: '1h' })
      return { stuck, then: await poll(subject, id) }
    },
    { stuck: 'in_progress', then: 'expired' },
  ),
  stateCase(
    'batch-404-after-create',
    async (subject) => {
      const { id } = await created(subject)
      return [await poll(subject, id), await poll(subject, id), await poll(subject, id)]
    },
    [NOT_FOUND, NOT_FOUND, 'validating'],
  ),
  stateCase(
    'batch-poll-transient-error',
    async (subject) => {
      const { id } = await created(subject)
      return [await poll(subject, id), await poll(subject, id), await poll(subject, id)]
    },
    ['validating', { status: 503, code: 'Service Unavailable' }, 'validating'],
  ),
  stateCase(
    'batch-cancel-racing-completion',
    async (subject) => {
      const { id } = await created(subject)
      const cancel = await subject.call('POST', `/batch-predictions/${id}/cancel`)
      return { cancel: cancel.status, polled: await poll(subject, id), lines: await results(subject, id) }
    },
    { cancel: 409, polled: 'completed', lines: 3 },
  ),
  stateCase(
    'batch-results-410',
    async (subject) => {
      const id = await subject.finished()
      const view = parse((await subject.call('GET', `/batch-predictions/${id}`)).body)
      return { status: view.status, url: view.results_url, results: await results(subject, id) }
    },
    { status: 'completed', url: null, results: GONE },
  ),
  stateCase(
    'batch-results-410-race',
    async (subject) => {
      const id = await subject.finished()
      const view = parse((await subject.call('GET', `/batch-predictions/${id}`)).body)
      return { url: view.results_url !== null, results: await results(subject, id) }
    },
    { url: true, results: GONE },
  ),
  stateCase(
    'batch-expired-partial',
    async (subject) => {
      const id = await subject.batch({ items: 4 })
      const { status, request_counts } = parse((await subject.call('GET', `/batch-predictions/${id}`)).body)
      return { status, request_counts, lines: await results(subject, id) }
    },
    {
      status: 'expired',
      request_counts: { total: 4, processing: 0, succeeded: 2, errored: 0, canceled: 0, expired: 2 },
      lines: 4,
    },
  ),
  stateCase(
    'batch-all-errored',
    async (subject) => {
      const { id } = await created(subject)
      await subject.control('POST', '/clock/advance', { by: '1h' })
      const { status, request_counts } = parse((await subject.call('GET', `/batch-predictions/${id}`)).body)
      const { body } = await subject.call('GET', `/batch-predictions/${id}/results`)
      const statuses = (body ?? '')
        .trim()
        .split('\n')
        .map((line) => parse(line).status)
      return { status, request_counts, statuses, then: (await created(subject)).status }
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
    async (subject) => {
      const { id } = await created(subject)
      const { status, error } = parse((await subject.call('GET', `/batch-predictions/${id}`)).body)
      return { status, detail: error.detail }
    },
    { status: 'failed', detail: 'Two items refer to files that cannot be read.' },
  ),
]

export const gateCases: readonly PresetCase[] = [
  stateCase(
    'gate',
    async ({ call, sandbox: { log, faults } }) => {
      const view = call('GET', USERS)
      while (faults.gates.size === 0) await nextTurn()
      const logged = log.size
      faults.gates.release(faults.gates.held())
      return [logged, (await view).status]
    },
    [0, 200],
  ),
]

export const keyCases: readonly PresetCase[] = [
  stateCase(
    'token-expired-mid-session',
    async (subject) => {
      const seen = []
      for (let n = 0; n < 4; n++) seen.push((await subject.call('GET', USERS)).status)
      return seen
    },
    [200, 200, 401, 401],
  ),
  {
    preset: 'token-revoked',
    run: async (subject) => {
      const before = (await subject.call('GET', USERS)).status
      await subject.arm('token-revoked')
      return [before, (await subject.call('GET', USERS)).status, (await subject.call('GET', USERS)).status]
    },
    expected: [200, 401, 401],
  },
]
