import { expect, test } from 'vitest'
import { judging, type Step } from '../../../test/support/observed-log.ts'

const { codesOn, reportOn } = judging(
  'page.doubled',
  'page.invalid-cursor',
  'page.loop',
  'page.skipped',
  'page.stopped-early',
)

const LIST = { operation: 'teamspace-users.list', path: '/v1/organization/teamspaces/t/users' }

/** A page of the list with these rows. */
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

const whole = [page(undefined, ['a', 'b']), page('b', ['c', 'd']), page('d', ['e'], false)]

test.for<[what: string, steps: Step[], expected: string[]]>([
  ['a walk through all pages', whole, []],
  ['the first page alone, of a list with more', whole.slice(0, 1), ['note page.stopped-early']],
  [
    'the first page again and again, as a dashboard reads it',
    [whole[0], whole[0], whole[0]] as Step[],
    ['note page.stopped-early'],
  ],
  [
    'a page that is read twice, as a prefetch does it',
    [...whole.slice(0, 2), whole[1] as Step, whole[2] as Step],
    [],
  ],
  [
    'two clients in turns',
    [...whole, ...whole].sort((a, b) =>
      String(a.query?.after ?? '').localeCompare(String(b.query?.after ?? '')),
    ),
    [],
  ],
  ['two of three pages', whole.slice(0, 2), ['note page.stopped-early']],
  [
    'an empty page with has_more, and no further request',
    [page(undefined, [])],
    ['warning page.stopped-early'],
  ],
  [
    'an empty page with has_more, and the same request again',
    [page(undefined, []), page(undefined, ['a'], false)],
    [],
  ],
  [
    'a cursor that leads to itself, followed twice again',
    [page(undefined, ['a', 'b']), page('b', ['c', 'b']), page('b', ['c', 'b']), page('b', ['c', 'b'])],
    ['error page.loop', 'note page.stopped-early'],
  ],
  [
    'a cycle of two cursors',
    [page(undefined, ['a']), page('a', ['b']), page('b', ['a']), page('a', ['b']), page('b', ['a'])],
    ['error page.loop', 'note page.stopped-early'],
  ],
  [
    'a cursor that leads to itself, noticed at once',
    [page(undefined, ['a', 'b']), page('b', ['c', 'b'])],
    ['note page.stopped-early'],
  ],
  [
    'a cursor from the middle of a page',
    [whole[0] as Step, page('a', ['b', 'c'], false)],
    ['warning page.doubled'],
  ],
  ['the middle of a page with another limit', [whole[0] as Step, page('a', ['b'], false, '1')], []],
  ['an offset that is one too small', [views(0), views(1)], ['warning page.doubled']],
  ['an offset that is one too large', [views(0), views(3)], ['warning page.skipped']],
  ['offsets in order', [views(0), views(2), views(4)], []],
  ['a jump to the fifth page', [views(0), views(8)], []],
  [
    'a cursor that no page gave, after one that did',
    [whole[0] as Step, refusedCursor('x')],
    ['warning page.invalid-cursor'],
  ],
  ['a cursor that no page gave', [refusedCursor('x')], ['note page.invalid-cursor']],
  ['a cursor whose record was deleted', [whole[0] as Step, refusedCursor('b')], []],
])('%s', ([, steps, expected]) => {
  expect(codesOn(steps)).toEqual(expected)
})

test('a page whose body is not kept is not judged, and the report says so', () => {
  const { response: _, ...unkept } = whole[0] as Step
  expect(reportOn([unkept])).toMatchObject({ data: [], not_judged: [expect.stringContaining('not kept')] })
})
