import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fitsGlob } from './glob.ts'

test.for<[pattern: string, text: string, fits: boolean]>([
  ['/v1/pages', '/v1/pages', true],
  ['/v1/pages', '/v1/pages/', false],
  ['/v1/*', '/v1/agents/a/automations', true],
  ['*/results', '/v1/batch-predictions/b/results', true],
  ['*a*a*b', 'aaaaab', true],
  ['*a*a*b', 'ab', false],
  ['**', '', true],
  ['', '', true],
  ['', 'x', false],
  ['a.c', 'abc', false],
  ['[a]', 'a', false],
])('%s against %s: %s', ([pattern, text, fits]) => {
  expect(fitsGlob(pattern, text)).toBe(fits)
})

test('a glob says what the regular expression says that its stars are runs in', () => {
  const part = fc.string({ unit: fc.constantFrom('a', 'b', '*', '/', '.'), maxLength: 8 })
  const word = fc.string({ unit: fc.constantFrom('a', 'b', '/', '.'), maxLength: 10 })
  fc.assert(
    fc.property(part, word, (pattern, text) => {
      const expression = pattern.replaceAll('.', '\\.').replaceAll(/\*+/g, '.*')
      expect(fitsGlob(pattern, text)).toBe(new RegExp(`^${expression}$`, 's').test(text))
    }),
    { numRuns: 2_000 },
  )
})

test('a long part that almost fits everywhere takes no time to speak of, nor do many matches', () => {
  const begin = performance.now()
  for (let n = 0; n < 100; n++) expect(fitsGlob(`*${'a'.repeat(6_000)}b*`, 'a'.repeat(12_000))).toBe(false)
  expect(performance.now() - begin).toBeLessThan(1_000)
})

test('many stars against a long text that almost fits take no time to speak of', () => {
  const begin = performance.now()
  expect(fitsGlob(`${'*a'.repeat(50)}*b`, 'a'.repeat(20_000))).toBe(false)
  expect(performance.now() - begin).toBeLessThan(1_000)
})
