import { expect, test } from 'vitest'
import { addReport } from './report.ts'

test('a report comes after the message, and before the lines of the stack', () => {
  const error = { message: 'two\nlines', stack: 'Error: two\nlines\n    at a.ts:1:1' }
  addReport(error, 'the report')
  expect(error.message).toBe('two\nlines\n\nthe report\n')
  expect(error.stack).toBe('Error: two\nlines\n\nthe report\n\n    at a.ts:1:1')
})

test('a stack with another message gets the report before its lines', () => {
  const error = { message: 'timed out', stack: 'Error: PLACEHOLDER\n    at a.ts:1:1' }
  addReport(error, 'the report')
  expect(error.stack).toBe('Error: PLACEHOLDER\n\nthe report\n\n    at a.ts:1:1')
})

test('a stack without lines ends with the report, and an error without a stack gets none', () => {
  const [bare, none] = [{ message: 'm', stack: 'odd' }, { message: 'm' }]
  addReport(bare, 'the report')
  addReport(none, 'the report')
  expect(bare.stack).toBe('odd\n\nthe report\n')
  expect(none).toEqual({ message: 'm\n\nthe report\n' })
})

test('special characters of replacements are kept unchanged', () => {
  const error = { message: "costs $& and $'", stack: "Error: costs $& and $'\n    at a.ts:1:1" }
  addReport(error, 'the $1 report')
  expect(error.stack).toBe("Error: costs $& and $'\n\nthe $1 report\n\n    at a.ts:1:1")
})
