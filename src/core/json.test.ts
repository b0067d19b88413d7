import fc from 'fast-check'
import { expect, test } from 'vitest'
import { forAll } from '../../test/support/for-all.ts'
import { isPointer, type Json, keysOf, mergePatch, pointer, valueAt } from './json.ts'

const odd = JSON.parse('{"a/b": {"m~n": [10, {"__proto__": "deep"}]}, "": "empty", "list": [1, 2]}') as Json

test.for<[place: string, found: Json | undefined]>([
  ['/', 'empty'],
  ['/a~1b/m~0n/0', 10],
  ['/a~1b/m~0n/1/__proto__', 'deep'],
  ['/list/1', 2],
  ['/list/01', undefined],
  ['/list/-', undefined],
  ['/list/length', undefined],
  ['/toString', undefined],
  ['/__proto__', undefined],
  ['/list/1/0', undefined],
])('valueAt finds the value at %s, if there is one', ([place, found]) => {
  expect(valueAt(odd, place)).toEqual(found)
})

test('the empty pointer refers to the whole value', () => {
  expect(valueAt(odd, '')).toBe(odd)
})

test('keys are the same after a conversion to a pointer and back', () =>
  forAll(fc.array(fc.string()), (keys) => {
    expect(isPointer(pointer(...keys))).toBe(true)
    expect(keysOf(pointer(...keys))).toEqual(keys)
  }))

test('isPointer is false for a text that is no pointer', () => {
  expect(['name', 'a/b', '/a~', '/a~2'].filter(isPointer)).toEqual([])
})

// The examples of RFC 7396, appendix A.
test.for<[target: Json, patch: Json, result: Json]>([
  [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
  [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
  [{ a: 'b' }, { a: null }, {}],
  [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
  [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
  [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
  [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
  [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
  [['a'], ['c', 'd'], ['c', 'd']],
  [{ a: 'b' }, ['c'], ['c']],
  [{ a: 'foo' }, null, null],
  [{ a: 'foo' }, 'bar', 'bar'],
  [{ e: null }, { a: 1 }, { e: null, a: 1 }],
  [[1, 2], { a: 'b', c: null }, { a: 'b' }],
  [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
])('%j merged with %j is %j', ([target, patch, result]) => {
  expect(mergePatch(target, patch)).toEqual(result)
})

test('a field named __proto__ is merged, kept and removed like any other, and changes no prototype', () => {
  const parse = (text: string) => JSON.parse(text) as Json
  const once = mergePatch(parse('{"a":1}'), parse('{"__proto__":{"polluted":true},"constructor":{"x":1}}'))
  expect(JSON.stringify(once)).toBe('{"a":1,"__proto__":{"polluted":true},"constructor":{"x":1}}')
  const twice = mergePatch(once, parse('{"__proto__":{"polluted":null,"more":2}}'))
  expect(JSON.stringify(twice)).toBe('{"a":1,"__proto__":{"more":2},"constructor":{"x":1}}')
  expect(JSON.stringify(mergePatch(twice, parse('{"__proto__":null}')))).toBe('{"a":1,"constructor":{"x":1}}')
  expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
})

test('a second merge of the same patch changes nothing, and neither argument changes', () => {
  const json = fc.jsonValue({ maxDepth: 4 }) as fc.Arbitrary<Json>
  forAll(json, json, (target, patch) => {
    const [before, given] = [JSON.stringify(target), JSON.stringify(patch)]
    const once = mergePatch(target, patch)
    expect(JSON.stringify(mergePatch(once, patch))).toBe(JSON.stringify(once))
    expect([JSON.stringify(target), JSON.stringify(patch)]).toEqual([before, given])
  })
})
