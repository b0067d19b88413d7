import { expect, test } from 'vitest'
import { type Refusal, refuseInvalid } from './errors.ts'
import type { Issue } from './json.ts'

function refusalOf(issues: readonly Issue[]): Refusal {
  try {
    refuseInvalid(issues)
  } catch (error) {
    return error as Refusal
  }
  throw new Error('It was not refused.')
}

const MISSING = { pointer: '/name', detail: 'is required' }
const ODD = { pointer: '/colour', detail: 'is not a known field' }
const MISSPELT = { pointer: '/nmae', detail: 'is not a known field. Did you mean "name"?' }

test('the message names an invalid field and its problem', () => {
  expect(refusalOf([MISSING]).options.detail).toBe('One field is not valid: /name: is required')
})

test('the message names all invalid fields, and explains a misspelt one first', () => {
  const { detail, issues } = refusalOf([MISSING, ODD, MISSPELT]).options
  expect(detail).toBe(
    '3 fields are not valid: /nmae: is not a known field. Did you mean "name"? (also /name, /colour)',
  )
  expect(issues).toEqual([MISSPELT, MISSING, ODD])
})

test('the message names a field with two mistakes once', () => {
  expect(refusalOf([MISSING, { ...MISSING, detail: 'is wrong' }]).options.detail).not.toContain('also')
})
