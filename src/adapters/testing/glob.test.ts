import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fitsGlob as fitsInCore } from '../../core/log/patterns.ts'
import { fitsGlob } from './glob.ts'

test('a glob of a matcher says what one of the request log says', () => {
  const text = fc.string({
    unit: fc.constantFrom('a', 'b', '*', '.', '\\', '[', '(', '/', '\n'),
    maxLength: 8,
  })
  fc.assert(
    fc.property(text, text, (pattern, value) => {
      expect(fitsGlob(pattern, value)).toBe(fitsInCore(pattern, value))
    }),
    { numRuns: 2_000 },
  )
})
