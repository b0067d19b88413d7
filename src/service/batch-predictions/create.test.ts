import { expect, test } from 'vitest'
import { excerpt, MAX_KEPT_PROMPT_LENGTH } from './create.ts'

test('a prompt of usual length is kept unchanged', () => {
  for (const prompt of ['', 'Read the total.', 'x'.repeat(MAX_KEPT_PROMPT_LENGTH)])
    expect(excerpt(prompt)).toBe(prompt)
})

test('the start and the length of a longer prompt are kept', () => {
  const kept = excerpt('ab'.repeat(MAX_KEPT_PROMPT_LENGTH))
  expect(kept.length).toBeLessThan(MAX_KEPT_PROMPT_LENGTH + 50)
  expect(kept.startsWith('abab')).toBe(true)
  expect(kept.endsWith(`... (${2 * MAX_KEPT_PROMPT_LENGTH} characters)`)).toBe(true)
})
