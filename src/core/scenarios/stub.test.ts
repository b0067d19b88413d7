import fc from 'fast-check'
import { expect, test } from 'vitest'
import { forAll } from '../../../test/support/for-all.ts'
import type { Json, JsonObject } from '../json.ts'
import { filled, placeholderClashes } from './stub.ts'

const json = fc.jsonValue({ noUnicodeString: false }) as fc.Arbitrary<Json>

test('a body without placeholders does not change', () =>
  forAll(json, (body) => {
    fc.pre(!JSON.stringify(body).includes('$request'))
    expect(JSON.stringify(filled(body, {}))).toBe(JSON.stringify(body))
    expect(placeholderClashes(body)).toEqual([])
  }))

test('a placeholder inside a part of the request is not replaced', () => {
  const request: JsonObject = { body: { $request: '/method' }, method: 'GET' }
  expect(filled({ echo: { $request: '/body' } }, request)).toEqual({ echo: { $request: '/method' } })
})

test('a placeholder can refer to fields of any name, but not to inherited properties', () => {
  const request = JSON.parse('{"body":{"__proto__":{"a/b":1},"list":[{"":2}]}}')
  const at = (place: string) => filled([{ $request: place }], request)
  expect(at('/body/__proto__/a~1b')).toEqual([1])
  expect(at('/body/list/0/')).toEqual([2])
  for (const place of ['/body/constructor', '/body/list/length', '/body/list/-1'])
    expect(at(place)).toEqual([null])
})
