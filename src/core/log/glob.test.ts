import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import picomatch from 'picomatch'
import { expect, test } from 'vitest'
import { fitsGlob } from './glob.ts'

test.for<[pattern: string, text: string, fits: boolean]>([
  ['/v1/pages', '/v1/pages/', false],
  ['/v1/*', '/v1/agents/a/automations', true],
  ['*', '', false],
  ['', '', true],
  ['', 'x', false],
  ['a.c', 'abc', false],
  ['invoice-?', 'invoice-7', true],
  ['[12]', '1', true],
  ['[^12]', '1', false],
  ['{a,b}', 'b', true],
  ['item-{1..3}', 'item-2', true],
  ['\\*', '*', true],
  ['\\*', 'x', false],
  ['*', '..', true],
  ['a*', 'a\nb', true],
  ['(a)', '(a)', true],
  ['[', '[', true],
])('%s against %s: %s', ([pattern, text, fits]) => {
  expect(fitsGlob(pattern, text)).toBe(fits)
})

test('the version of picomatch is exact, since a part of its result is not documented', () => {
  const { dependencies } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'))
  expect(dependencies.picomatch).toMatch(/^\d+\.\d+\.\d+$/)
})

test('a glob fits the same texts as in picomatch', () => {
  const unit = fc.constantFrom('a', 'b', '/', '*', '?', '{', '}', ',', '!', '-', ':')
  const pattern = fc.string({ unit, minLength: 1, maxLength: 8 })
  const text = fc.string({ unit: fc.constantFrom('a', 'b', '/', '-', ':'), minLength: 1, maxLength: 8 })
  const options = { bash: true, dot: true, noext: true, strictSlashes: true, fastpaths: false, flags: 's' }
  fc.assert(
    fc.property(pattern, text, (glob, given) => {
      expect(fitsGlob(glob, given)).toBe(picomatch(glob, options)(given))
    }),
    { numRuns: 2_000 },
  )
})

test('a glob with many stars against a long text that almost fits ends in time', () => {
  expect(fitsGlob(`${'*a'.repeat(50)}*b`, 'a'.repeat(20_000))).toBe(false)
  expect(fitsGlob(`${'*a'.repeat(50)}*c*a`, 'a'.repeat(20_000))).toBe(false)
  expect(fitsGlob(`*${'a'.repeat(70_000)}b*`, 'a'.repeat(100_000))).toBe(false)
})
