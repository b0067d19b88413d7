import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fitsGlob } from './glob.ts'
import { fitsRegex, MAX_REGEX_LENGTH, regexProblem } from './patterns.ts'

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
  const part = fc.string({
    unit: fc.constantFrom('a', 'b', '*', '/', '.', '\\', '[', '(', '\n'),
    maxLength: 8,
  })
  const word = fc.string({ unit: fc.constantFrom('a', 'b', '/', '.', '\\', '[', '(', '\n'), maxLength: 10 })
  fc.assert(
    fc.property(part, word, (pattern, text) => {
      const expression = pattern.replaceAll(/[.[(\\]/g, '\\$&').replaceAll(/\*+/g, '.*')
      expect(fitsGlob(pattern, text)).toBe(new RegExp(`^${expression}$`, 's').test(text))
    }),
    { numRuns: 2_000 },
  )
})

// One that takes the product of the lengths would not come to its end.
test('a long part that almost fits everywhere takes time by the sum of the lengths', () => {
  expect(fitsGlob(`*${'a'.repeat(3_000_000)}b*`, 'a'.repeat(6_000_000))).toBe(false)
})

test('many stars against a long text that almost fits come to their end', () => {
  expect(fitsGlob(`${'*a'.repeat(50)}*b`, 'a'.repeat(20_000))).toBe(false)
  expect(fitsGlob(`${'*a'.repeat(50)}*c*a`, 'a'.repeat(20_000))).toBe(false)
})

test.for<[expression: string, text: string, fits: boolean]>([
  ['pages', '/v1/pages/1', true],
  ['^pages', '/v1/pages/1', false],
  ['^/v1/(?:pages|skills)/\\d+$', '/v1/skills/12', true],
  ['(?i)PAGES', '/v1/pages', true],
  ['[[:upper:]]', '/v1/pages', false],
  ['é', '/v1/café', true],
])('%s in %s: %s', ([expression, text, fits]) => {
  expect(regexProblem(expression)).toBeUndefined()
  expect(fitsRegex(expression, text)).toBe(fits)
})

test.for<[expression: string, problem: RegExp]>([
  ['', /empty/],
  ['(', /RE2: missing closing \)/],
  ['(?=ahead)', /RE2: invalid or unsupported Perl syntax/],
  ['(a)\\1', /RE2: invalid escape sequence/],
  ['(a{1000}){1000}', /RE2: invalid repeat count/],
  ['a'.repeat(MAX_REGEX_LENGTH + 1), /at most 1000 characters/],
])('%s is refused', ([expression, problem]) => {
  expect(regexProblem(expression)).toMatch(problem)
})

test('an expression that takes others for ever comes to its end', () => {
  expect(fitsRegex('^(?:a+a+)+$', `${'a'.repeat(16_000)}!`)).toBe(false)
})
