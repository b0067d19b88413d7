import { expect, test } from 'vitest'
import { judging, type Step } from '../../../test/support/observed-log.ts'

const VERDICTS = ['doubled', 'invalid-cursor', 'loop', 'skipped', 'stopped-early']
const { codesOn, reportOn } = judging(...VERDICTS.map((name) => `page.${name}`))

const LIST = { operation: 'teamspace-users.list', path: '/v1/organization/teamspaces/t/users' }

function page(after: string | undefined, rows: string[], has_more = true, limit?: string): Step {
  return {
    ...LIST,
    query: { ...(after !== undefined && { after }), limit: limit ?? '2' },
    response: { object: 'list', data: rows.map((id) => ({ id })), has_more },
  }
}

const views = (offset: number, rows = 2, limit = '2'): Step => ({
  operation: 'data-views.list',
  query: { offset: String(offset), limit },
  response: { object: 'list', data: Array.from({ length: rows }, (_, n) => ({ id: `${offset + n}` })) },
})

const refusedCursor = (after: string): Step => ({
  ...page(after, []),
  status: 400,
  code: 'validation_failed',
  pointers: ['/query/after'],
  response: {},
})

const first = page(undefined, ['a', 'b'])
const second = page('b', ['c', 'd'])
const last = page('d', ['e'], false)
const loop = page('b', ['c', 'b'])
const cycle = [page('a', ['b']), page('b', ['a'])]
const EARLY = 'note page.stopped-early'

test.for<[what: string, steps: Step[], expected: string[]]>([
  ['a walk through all pages', [first, second, last], []],
  ['the first page alone, of a list with more', [first], [EARLY]],
  ['the first page again and again, as a dashboard reads it', [first, first, first], [EARLY]],
  ['a page that is read twice, as a prefetch does it', [first, second, second, last], []],
  ['two clients in turns', [first, first, second, second, last, last], []],
  ['two of three pages', [first, second], [EARLY]],
  ['an empty page with has_more, and no other one', [page(undefined, [])], ['warning page.stopped-early']],
  ['the same, and the request again', [page(undefined, []), page(undefined, ['a'], false)], []],
  ['a cursor that leads to itself, followed twice', [first, loop, loop, loop], ['error page.loop', EARLY]],
  ['a cycle of two cursors', [page(undefined, ['a']), ...cycle, ...cycle], ['error page.loop', EARLY]],
  ['a cursor that leads to itself, noticed at once', [first, loop], [EARLY]],
  ['a cursor from the middle of a page', [first, page('a', ['b', 'c'], false)], ['warning page.doubled']],
  ['the middle of a page with another limit', [first, page('a', ['b'], false, '1')], []],
  ['an offset that is one too small', [views(0), views(1)], ['warning page.doubled']],
  ['an offset that is one too large', [views(0), views(3)], ['warning page.skipped']],
  ['offsets in order', [views(0), views(2), views(4)], []],
  ['a jump to the fifth page', [views(0), views(8)], []],
  ['a cursor of no page, after one of a page', [first, refusedCursor('x')], ['warning page.invalid-cursor']],
  ['a cursor that no page gave', [refusedCursor('x')], ['note page.invalid-cursor']],
  ['a cursor whose record was deleted', [first, refusedCursor('b')], []],
])('%s', ([, steps, expected]) => {
  expect(codesOn(steps)).toEqual(expected)
})

test('a page whose body is not kept is not judged, and the report says so', () => {
  const { response: _, ...unkept } = first
  expect(reportOn([unkept])).toMatchObject({ data: [], not_judged: [expect.stringContaining('not kept')] })
})
