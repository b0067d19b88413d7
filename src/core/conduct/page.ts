import { z } from 'zod'
import { isObject } from '../json.ts'
import { inputOf } from '../operation.ts'
import { POSITION } from './attempt.ts'
import { type Group, groupBy, type ObservedRequest, runsOf } from './observed.ts'
import { family, type Observed } from './verdict.ts'

type Page = ReturnType<typeof walked>[number] & { readonly walks: readonly Group<ObservedRequest>[] }

/** The pages of each list with all walks of its client: a request without a position begins a new one. */
const pagesOf = ({ requests, skip }: Observed): Page[] => {
  const lists = groupBy(requests.filter(isPage), ({ reader, entry }) => {
    const filters = Object.entries(entry.query).filter(([name]) => !POSITION.includes(name))
    return JSON.stringify([reader, filters])
  })
  return [...lists.values()].flatMap((list) => {
    for (const { id, outcome, json } of list)
      if (outcome === 'success' && json === undefined)
        skip(`The body of ${id} is not kept as JSON, so it was not judged as a page.`)
    const walks = runsOf(list, (each) => cursorOf(each) !== undefined || offsetOf(each) > 0)
    return walks.flatMap((walk) => walked(walk).map((page) => ({ ...page, walks })))
  })
}

/** Whether the operation has pages. */
function isPage({ operation, entry: { settings } }: ObservedRequest): boolean {
  const query = operation?.method === 'GET' ? inputOf(operation, settings).query : undefined
  return query instanceof z.ZodObject && ('after' in query.shape || 'offset' in query.shape)
}

const cursorOf = ({ entry: { query } }: ObservedRequest) =>
  (query.after ?? query.before) as string | undefined
const offsetOf = ({ entry: { query } }: ObservedRequest) => Number(query.offset ?? 0)
const hasMore = (request: ObservedRequest | undefined) => request?.json?.has_more === true
const rowsOf = ({ json }: ObservedRequest) => (Array.isArray(json?.data) ? json.data : [])

/** Compares each request of a walk with the pages before it. */
function walked(walk: Group<ObservedRequest>) {
  /** The number of rows after each cursor, in the page that has it. */
  const rest = new Map<unknown, number>()
  const followed = new Set<unknown>()
  let end: unknown
  return walk.map((request, index) => {
    const { after, limit } = request.entry.query
    const cursor = cursorOf(request)
    const before = walk[index - 1] ?? request
    const rows = rowsOf(before).length
    const step = before.entry.query.limit === limit ? offsetOf(request) - offsetOf(before) : 0
    // A whole number of pages forward is a jump.
    const isStep = step > 0 && step < rows * 2
    const isUsual = cursor === after && limit === walk[0].entry.query.limit
    const page = {
      request,
      walk,
      cursor,
      isEmpty: Array.isArray(request.json?.data) && request.json.data.length === 0,
      /** Whether a page before it has its cursor. */
      isGiven: cursor === undefined || rest.has(cursor),
      /** Whether the page before it led back to a cursor that the client has followed. */
      isLoop: after !== undefined && after === end && followed.has(after),
      /** The rows between the pages before it and its position: missing ones, or negative if they come twice. */
      stray: isStep ? step - rows : isUsual ? -(rest.get(cursor) ?? 0) : 0,
    }
    const ids = rowsOf(request).map((row) => (isObject(row) ? row.id : undefined))
    const last = request.json?.last_id ?? ids.at(-1)
    // The end of one page may be in the middle of another one.
    for (const [place, id] of [...ids, last].entries())
      rest.set(id, Math.min(Math.max(0, ids.length - 1 - place), rest.get(id) ?? ids.length))
    followed.add(after)
    if (hasMore(request)) end = last
    return page
  })
}

function strayText(bad: Group<Page>, problem: string): string {
  const rows = bad.reduce((sum, { stray }) => sum + Math.abs(stray), 0)
  return `The client continued ${bad[0].request.name} at a position that is not the end of a page it has read: ${rows} rows ${problem}.`
}

/** Whether a client reads each page of a list once. */
export const pageFamily = family({
  section: 'Resources and their fields / Conventions',
  facts: pagesOf,
  oneFor: ({ walk }) => walk,
  requests: ({ walk }) => walk,
  evidence: (bad) => ({ positions: bad.map(({ cursor, request }) => cursor ?? `${offsetOf(request)}`) }),
  verdicts: {
    'note page.stopped-early': {
      description: 'The client stops before the last page; a warning after an empty page.',
      fix: 'Go on while has_more is true, also after a page without rows.',
      // A dashboard reads the first page again and again, so one walk to the end is enough.
      isBad: ({ request, walks, isEmpty }) =>
        request === walks.at(-1)?.at(-1) &&
        hasMore(request) &&
        (isEmpty || walks.every((walk) => hasMore(walk.at(-1)))),
      message: ([{ request, isEmpty }]) =>
        `The client of ${request.name} stopped after ${isEmpty ? 'an empty page' : 'a page'} with has_more: true.`,
      weigh: ([{ isEmpty }]) => (isEmpty ? 'warning' : 'note'),
      requests: ({ walks }) => walks.flat(),
      evidence: ([{ walks }]) => ({ pages: walks.flat().length }),
    },
    'error page.loop': {
      description: 'The client follows a cursor that never advances.',
      fix: 'Remember the cursors of a walk, and fail if one comes again.',
      isBad: ({ isLoop }) => isLoop,
      message: ([{ request }, ...more]) =>
        more.length === 0
          ? undefined
          : `The client followed a cursor of ${request.name} that leads back to itself, ${1 + more.length} times after it had seen its page.`,
    },
    'warning page.skipped': {
      description: 'The client continues after the end of the page that it has read, so it misses rows.',
      fix: 'Add the number of rows of the page to the offset.',
      isBad: ({ stray }) => stray > 0,
      message: (bad) => strayText(bad, 'were skipped'),
    },
    'warning page.doubled': {
      description: 'The client continues before the end of the page that it has read, so rows come twice.',
      fix: 'Continue with last_id, or with the id of the last row as it arrived, before any filter or sort of your own.',
      isBad: ({ stray }) => stray < 0,
      message: (bad) => strayText(bad, 'came twice'),
    },
    'note page.invalid-cursor': {
      description: 'The client sends a cursor that no page has given; a warning if it had one.',
      fix: 'Send cursors back unchanged, and only to the list that gave them, with the same filters.',
      // The record of a cursor that was given may have been deleted.
      isBad: ({ request: { entry, isFaulted }, isGiven }) =>
        !isGiven &&
        !isFaulted &&
        entry.error?.issues.some(({ pointer = '' }) => /^\/query\/(after|before)$/.test(pointer)) === true,
      message: ([{ request, cursor }]) =>
        `${request.name} was refused: no page that the client has read has the cursor "${cursor}".`,
      weigh: ([{ walk, request }]) =>
        walk.slice(0, walk.indexOf(request)).some(hasMore) ? 'warning' : 'note',
      requests: ({ request }) => [request],
      evidence: ([{ cursor = '' }]) => ({ cursor }),
    },
  },
})
