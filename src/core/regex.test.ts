import { expect, test } from 'vitest'
import { fitsRegex, MAX_REGEX_LENGTH, regexProblem } from './regex.ts'

test.for<[expression: string, text: string, fits: boolean]>([
  ['pages', '/v1/pages/1', true],
  ['^pages', '/v1/pages/1', false],
  ['^/v1/(?:pages|skills)/\\d+$', '/v1/skills/12', true],
  ['(?i)PAGES', '/v1/pages', true],
  ['[[:upper:]]', '/v1/pages', false],
  ['é', '/v1/café', true],
])('the expression %s matches in %s: %s', ([expression, text, fits]) => {
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

test('an expression that takes exponential time in other engines ends', () => {
  expect(fitsRegex('^(?:a+a+)+$', `${'a'.repeat(16_000)}!`)).toBe(false)
})
