import { expect, test } from 'vitest'
import { excerpt, LONGEST_KEPT_PROMPT } from './prompt.ts'

test('a prompt of usual length is kept as it is', () => {
  const longest = 'x'.repeat(LONGEST_KEPT_PROMPT)
  expect([excerpt(''), excerpt('Read the total.'), excerpt(longest)]).toEqual([
    '',
    'Read the total.',
    longest,
  ])
})

test('of a longer prompt its start and its length are kept', () => {
  const kept = excerpt('ab'.repeat(LONGEST_KEPT_PROMPT))
  expect(kept.length).toBeLessThan(LONGEST_KEPT_PROMPT + 50)
  expect(kept.startsWith('abab')).toBe(true)
  expect(kept.endsWith(`... (${2 * LONGEST_KEPT_PROMPT} characters)`)).toBe(true)
})
