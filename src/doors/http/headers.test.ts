import { expect, test } from 'vitest'
import { headerValues } from './headers.ts'

test('all values of a header are found, in any case and in order', () => {
  const raw = ['Host', 'a', 'X-Other', 'host', 'HOST', 'b', 'host', '']
  expect(headerValues(raw, 'Host')).toEqual(['a', 'b', ''])
  expect(headerValues(raw, 'constructor')).toEqual([])
})
