import fc from 'fast-check'
import { expect, test } from 'vitest'
import { forAll } from '../../../test/support/for-all.ts'
import { contentTypeProblem, guardJson, JSON_BOUNDS, parseJson, parseJsonBody } from './json-body.ts'

const MIB = 1024 * 1024
const TOKEN = /"(?:[^"\\]|\\.)*"|[[\]{},:]|[^\s[\]{},:"]+/gs

function guard(text: string, bounds: Partial<typeof JSON_BOUNDS> = {}) {
  return guardJson(Buffer.from(text), { ...JSON_BOUNDS, ...bounds })
}

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  return 1 + Math.max(0, ...Object.values(value).map(depthOf))
}

function fault(text: string | Buffer) {
  const parsed = parseJson(Buffer.from(text))
  if (parsed.kind !== 'refused') throw new Error('parsed, though it must not')
  return parsed.refusal.message.replace('The body is not valid JSON: ', '')
}

test('the maximum number of levels is accepted, one more is not', () => {
  expect(guard(`${'['.repeat(512)}${']'.repeat(512)}`)).toBeUndefined()
  expect(guard(`${'['.repeat(513)}${']'.repeat(513)}`)).toEqual({ kind: 'too_deep', offset: 512 })
})

test('values and structural characters are counted, an opening bracket twice, spaces not', () => {
  expect(guard('{ "a" : [ 1 , true ] }', { maxTokens: 11 })).toBeUndefined()
  expect(guard('{ "a" : [ 1 , true ] }', { maxTokens: 10 })).toEqual({ kind: 'too_many_tokens', offset: 21 })
})

test('the guard accepts a string without an end or with a last backslash, and a byte order mark', () => {
  for (const text of ['"abc', '"abc\\', `"${'x'.repeat(300)}\\`, `"${'x'.repeat(300)}`, '']) {
    expect(guard(text), text).toBeUndefined()
  }
  expect(guard('\uFEFF[]', { maxTokens: 3 })).toBeUndefined()
})

test('the guard counts the same as a reference, for any JSON', () => {
  const texts = fc
    .tuple(fc.json({ maxDepth: 6 }), fc.nat({ max: 4 }))
    .map(([text, space]) => JSON.stringify(JSON.parse(text), null, space))
  forAll(texts, (text) => {
    const tokens = (text.match(TOKEN) ?? []).reduce(
      (sum, token) => sum + (/[[{]/.test(token[0] ?? '') ? 2 : 1),
      0,
    )
    const depth = depthOf(JSON.parse(text))
    expect(guard(text, { maxTokens: tokens, maxDepth: depth })).toBeUndefined()
    expect(guard(text, { maxTokens: tokens - 1 })?.kind).toBe('too_many_tokens')
    if (depth > 0) expect(guard(text, { maxDepth: depth - 1 })?.kind).toBe('too_deep')
  })
})

test('the end of a long string is found with any pattern of backslashes', () => {
  const pieces = fc.array(fc.constantFrom('\\', '"', 'x'.repeat(63), 'x'.repeat(64), 'y', 'é'), {
    maxLength: 60,
  })
  forAll(pieces, (parts) => {
    expect(guard(JSON.stringify([parts.join(''), 1]), { maxTokens: 6 })).toBeUndefined()
    expect(guard(JSON.stringify([parts.join(''), 1]), { maxTokens: 5 })).toBeDefined()
  })
})

test('S2 bodies with too many objects or levels are refused where they exceed the bound', () => {
  const objects = Buffer.from(`{"items":[${'{},'.repeat(1_000_000)}{}]}`, 'latin1')
  // The first ten bytes count six, and each object with its comma four.
  expect(guardJson(objects)).toEqual({ kind: 'too_many_tokens', offset: 10 + (3 * 999_996) / 4 - 2 })
  expect(guardJson(Buffer.from('['.repeat(5_000)))).toEqual({ kind: 'too_deep', offset: 512 })
})

test('an object has a bounded number of members, each object for itself', () => {
  const members = (count: number) => Array.from({ length: count }, (_, n) => `"${n}":{"a":1}`).join(',')
  expect(guard(`[{${members(3)}},{${members(3)}}]`, { maxMembers: 3 })).toBeUndefined()
  expect(guard(`[{${members(4)}}]`, { maxMembers: 3 })).toEqual({ kind: 'too_many_members', offset: 41 })
  expect(guardJson(Buffer.from(`{${members(50_000)}}`))).toBeUndefined()
  expect(guardJson(Buffer.from(`{${members(50_001)}}`))?.kind).toBe('too_many_members')
})

test('a violation names the bound, the place and the fix', () => {
  const refusalOf = (text: string) => {
    const body = parseJsonBody(Buffer.from(text), { bytes: MIB, tokens: 1_200 })
    return body.kind === 'refused' && body.refusal.message
  }
  expect(refusalOf('['.repeat(513))).toMatch(/512 levels deep at byte 512.*flatter/)
  expect(refusalOf(`[${'1,'.repeat(600)}1]`)).toMatch(/1200 tokens.*byte 1199.*Split/)
})

test('a body has at most the bytes of its bound', () => {
  const kindWithin = (bytes: number) => parseJsonBody(Buffer.from('[1]'), { bytes, tokens: 10 }).kind
  expect([kindWithin(3), kindWithin(2)]).toEqual(['json', 'refused'])
})

test.for<[what: string, text: string, value: unknown]>([
  ['a byte order mark is ignored', '\uFEFF{"a":1}', { a: 1 }],
  ['the last of several equal keys wins', '{"a":1,"a":2}', { a: 2 }],
  ['an escaped lone surrogate stays unchanged', '"\\ud800"', '\ud800'],
])('%s', ([, text, value]) => {
  expect(parseJson(Buffer.from(text))).toMatchObject({ kind: 'json', value })
})

test('__proto__ is a key like any other', () => {
  const parsed = parseJson(Buffer.from('{"__proto__":{"x":1}}'))
  expect(parsed.kind === 'json' && JSON.stringify(parsed.value)).toBe('{"__proto__":{"x":1}}')
  expect(({} as { x?: number }).x).toBeUndefined()
})

test('bytes that are not UTF-8 are refused with their place', () => {
  const bytes = Buffer.concat([Buffer.from('{"�":\n"é'), Buffer.from([0xff]), Buffer.from('"}')])
  expect(fault(bytes)).toBe('line 2, column 3: bytes that are not UTF-8.')
  expect(fault(Buffer.from([0x22, 0xc3]))).toContain('column 2')
  expect(fault(Buffer.from([0xef, 0xbf, 0xbd, 0x22, 0xed, 0xa0, 0x80]))).toContain('column 3')
})

test('the first byte that is not UTF-8 is found at any position', () => {
  const piece = fc.constantFrom('a', 'é', '€', '😀', '\uFFFD')
  const broken = fc.constantFrom('ff', '80', 'c3', 'e282', 'eda080', 'c080', 'f09f')
  const text = fc.array(piece, { maxLength: 40, size: 'max' }).map((pieces) => pieces.join(''))
  forAll(text, broken, text, (before, bytes, after) => {
    const body = [Buffer.from(before), Buffer.from(bytes, 'hex'), Buffer.from(`.${after}`)]
    expect(fault(Buffer.concat(body))).toContain(`line 1, column ${before.length + 1}: `)
  })
})

test('a syntax error is reported with its place, the found character and the expected text', () => {
  expect(fault('')).toBe('line 1, column 1: expected a value, but the text ends.')
  expect(fault('{\r\n  a: 1\r\n}')).toBe(
    'line 2, column 3: unexpected "a"; strings and property names need double quotes.',
  )
  expect(fault('[]\n[]')).toBe('line 2, column 1: expected the end of the text, found "[".')
  expect(fault('"“😀" "')).toContain('line 1, column 7')
})

test('the detail quotes at most one character of the body', { tags: ['R253'] }, () => {
  expect(fault('{"secret":"hunter2" oops}')).not.toMatch(/secret|hunter2|oops|JSON\.parse|position/)
})

test.for([
  ...['application/json', 'Application/JSON', 'application/problem+json', 'application/json;'],
  ...['application/json;charset=utf-8', 'application/json ; Charset="UTF-8"'],
  ...['application/json; charset=utf8', 'application/json; charset="UTF8"'],
  'application/json; profile="a;b=\\"c\\""; v=1',
])('the media type %s is JSON', { tags: ['R002'] }, (header) => {
  expect(contentTypeProblem(header)).toBeUndefined()
})

test.for([
  ['no Content-Type', undefined, ' '],
  ['is not JSON', 'text/plain', 'text/json', 'application/jsonp', 'application/x-www-form-urlencoded'],
  ['is not JSON', 'application/xml+jsonx', 'application', 'application/json, text/plain'],
  ['is not JSON', 'application/json charset=utf-8', 'application/json; charset', 'application/json; =utf-8'],
  ['another charset', 'application/json; charset=iso-8859-1', 'application/json; v=1; charset="utf-16"'],
  ['another charset', 'application/json; charset=utf-8; charset=latin1', 'application/json; charset=utf-88'],
])('the problem is "%s" for %j and the like', ([problem, ...headers]) => {
  for (const header of headers) expect(contentTypeProblem(header), header).toContain(problem)
})
