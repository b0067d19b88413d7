import fc from 'fast-check'
import { expect, test } from 'vitest'
import { forAll } from '../../../test/support/for-all.ts'
import { judging, type Step } from '../../../test/support/observed-log.ts'

const { codesOn, reportOn } = judging('body.changed', 'request.changed', 'retry.missing')

const json = { 'content-type': 'application/json' }
const page: Step = { body: { name: 'a', parent: null, title: 'Roof plan' }, headers: json }
const failed: Step = { ...page, status: 500 }
const { body: _, ...bare } = page
const refused: Step = { ...bare, status: 400 }
const list: Step = { operation: 'teamspace-users.list', query: { search: 'ann', limit: '5' } }
const busy: Step = { ...list, status: 503 }

const judged = (first: Step, next: Step) => {
  const { judged, data } = reportOn([first, next])
  const changes = data.filter(({ code }) => code.endsWith('.changed'))
  return {
    calls: judged.calls,
    codes: changes.map(({ severity, code }) => `${severity} ${code}`),
    message: changes[0]?.message,
  }
}

const once = JSON.stringify(page.body)
const twice = once.repeat(2)
const keyed: Step = { ...failed, key: 'k' }
const otherPage: Step = { ...page, body: { name: 'b' } }
const form = { 'content-type': 'application/x-www-form-urlencoded' }
const DOUBLE = { search: ['ann', 'ann'], limit: ['5', '5'] }
const searched = (search: string): Step => ({ ...busy, query: { search } })

const BODY = 'warning body.changed'
const PROVED = 'error body.changed'
const REQUEST = 'warning request.changed'
const EMPTY = 'with the same Idempotency-Key, but its body was empty'
const OTHER_TYPE = 'had the content-type application/x-www-form-urlencoded, after application/json'

test.for<[what: string, first: Step, next: Step, code: string, words: string]>([
  ['an empty body', failed, refused, BODY, 'its body was empty, after 46 bytes'],
  ['a cut body', failed, { ...refused, text: '{"name":"a"' }, BODY, 'was cut: 11 of 46 bytes'],
  ['a doubled body', failed, { ...refused, text: twice }, BODY, 'came 2 times in a row'],
  ['a body that was encoded twice', failed, { ...refused, body: once }, BODY, 'was encoded as JSON twice'],
  ['null in place of a body', failed, { ...refused, body: null }, BODY, 'was null'],
  ['fewer fields', failed, { ...page, body: { name: 'a' } }, BODY, 'had lost parent, title'],
  ['an empty body with the same key, which proves it', keyed, { ...refused, key: 'k' }, PROVED, EMPTY],
  ['another body with the same key', keyed, { ...otherPage, key: 'k' }, PROVED, 'its body was another one'],
  ['no body, but another key', keyed, { ...refused, key: 'l' }, BODY, 'its body was empty'],
  ['a body of another type', failed, { ...refused, text: 'name=a', headers: form }, REQUEST, OTHER_TYPE],
  ['a body without its type', failed, { ...refused, text: once, headers: {} }, REQUEST, 'content-type none'],
  ['no key', failed, { ...page, status: 401, credential: null }, REQUEST, 'had no Authorization header'],
  ['no filter', busy, { ...list, query: {} }, 'note request.changed', 'had lost search, limit in its query'],
  ['its query twice', busy, { ...list, query: DOUBLE as never }, REQUEST, 'had its query twice'],
  ['a query encoded twice', searched('a b'), searched('a%20b'), REQUEST, 'had its query encoded twice'],
  ['another query of a create', failed, { ...page, query: { version: '2' } }, REQUEST, 'had another query'],
])('an attempt with %s is one call, and the finding names the change', ([, first, next, code, words]) => {
  expect(judged(first, next)).toEqual({ calls: 1, codes: [code], message: expect.stringContaining(words) })
})

test.for<[what: string, first: Step, next: Step]>([
  ['another body', failed, { ...page, body: { name: 'b', parent: null } }],
  ['fewer fields and another key', { ...failed, key: 'k' }, { ...page, key: 'l', body: { name: 'a' } }],
  ['an empty body after a success', page, refused],
  ['a corrected body after a refusal', { ...failed, status: 400 }, { ...page, body: { name: 'a' } }],
  ['an empty body of another client', failed, { ...refused, headers: { 'user-agent': 'other' } }],
  ['an empty body of another caller', failed, { ...refused, caller: 'other' }],
  ['another page of a list', { ...busy, query: { after: 'a' } }, { ...list, query: { after: 'b' } }],
  ['the first page', { ...busy, query: { after: 'a', limit: '5' } }, { ...list, query: { limit: '5' } }],
  ['another key after a 401', { ...page, status: 401, credential: 'old' }, page],
])('%s is another call, without a finding about a change', ([, first, next]) => {
  expect(judged(first, next)).toMatchObject({ calls: 2, codes: [] })
})

const cut: Step = { ...bare, status: 0, headers: { ...json, 'content-length': '46' } }

test.for<[what: string, first: Step, next: Step]>([
  ['fields in another order', failed, { ...page, body: { title: 'Roof plan', parent: null, name: 'a' } }],
  ['a body that a cut connection has kept from the emulator', cut, page],
])('%s: the body is the same', ([, first, next]) => {
  expect(judged(first, next)).toMatchObject({ calls: 1, codes: [] })
})

test('a corrected body after a failure and a refusal is another call', () => {
  const steps = [failed, { ...failed, status: 400, at: 9 }, { ...page, body: { name: 'a' } }]
  expect(reportOn(steps).judged.calls).toBe(2)
})

/** What clients do to a body between two attempts. */
const losses: Readonly<Record<string, (body: Record<string, string>) => Partial<Step>>> = {
  empty: () => ({}),
  cut: (body) => ({ text: JSON.stringify(body).slice(0, -1) }),
  twice: (body) => ({ body: JSON.stringify(body) }),
  doubled: (body) => ({ text: JSON.stringify(body).repeat(2) }),
  lost: (body) => ({ body: Object.fromEntries(Object.entries(body).slice(1)) }),
  recoded: (body) => ({ text: String(new URLSearchParams(body)), headers: { 'content-type': 'text/plain' } }),
}

test('whatever a client loses of a body, it is one call with one finding, and no retry is missing', () => {
  const size = { minKeys: 1, maxKeys: 5, noNullPrototype: true }
  const bodies = fc.dictionary(fc.string({ minLength: 1 }), fc.string(), size)
  const loss = fc.constantFrom(...Object.keys(losses))
  forAll(bodies, loss, fc.constantFrom(0, 429, 500, 503), fc.nat(3), (body, name, status, more) => {
    const first: Step = { ...page, body, status }
    const next: Step = { ...bare, status: 400, ...losses[name]?.(body) }
    const steps = [...Array.from({ length: more }, () => first), first, next]
    const { judged, data } = reportOn(steps.map((step, n) => ({ ...step, at: n * 2_000 })))
    expect(judged.calls).toBe(1)
    const codes = data.map(({ code }) => code)
    expect(codes.filter((code) => code.endsWith('.changed'))).toHaveLength(1)
    expect(codes).not.toContain('retry.missing')
  })
})

test('of equal requests that fail together, each repetition is an attempt of another one', () =>
  forAll(fc.integer({ min: 1, max: 20 }), (count) => {
    const each = Array.from({ length: count }, (_, n) => n / 100)
    const steps = [busy, list].flatMap((step, late) =>
      each.map((ms): Step => ({ ...step, at: late * 2_000, real: late * 2_000 + ms })),
    )
    expect(reportOn(steps).judged.calls).toBe(count)
    expect(codesOn(steps).filter((code) => code.endsWith('retry.missing'))).toEqual([])
  }))

test.for<[what: string, first: Step, next: Step, expected: string[]]>([
  ['most is the same', failed, { ...page, body: { ...(page.body as object), title: 'b' } }, []],
  ['nothing is the same', { ...failed, status: 503, body: { name: 'a' } }, otherPage, ['note retry.missing']],
])('retry.missing when another body follows, and %s', ([, first, next, expected]) => {
  expect(codesOn([first, next]).filter((code) => code.endsWith('retry.missing'))).toEqual(expected)
})
