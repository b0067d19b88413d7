import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Json, pointer } from '../json.ts'
import { isPointer, keysOf, valueAt } from './json-pointer.ts'

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
])('the value at %s', ([place, found]) => {
  expect(valueAt(odd, place)).toEqual(found)
})

test('the empty pointer is the whole', () => {
  expect(valueAt(odd, '')).toBe(odd)
})

test('keys survive being made into a pointer', () => {
  fc.assert(
    fc.property(fc.array(fc.string()), (keys) => {
      expect(isPointer(pointer(...keys))).toBe(true)
      expect(keysOf(pointer(...keys))).toEqual(keys)
    }),
  )
})

test('what is no pointer is known', () => {
  expect(['name', 'a/b', '/a~', '/a~2'].filter(isPointer)).toEqual([])
})
