import { expect, test } from 'vitest'
import { z } from 'zod'
import { IssueList, problemCount } from './issue-list.ts'
import { parsed, zodIssues } from './zod-issues.ts'

test('the counts of a list survive new pointers and another list', () => {
  const below = new IssueList()
  for (let n = 0; n < 250; n++) below.push({ pointer: `/${n}`, detail: 'is wrong' })
  const list = new IssueList()
  list.addAll(below.map((each) => ({ ...each, pointer: `/settings${each.pointer}` })))
  list.leaveOut({ unchecked: 7 })
  expect(problemCount(list)).toBe(250)
  expect(list.at(-1)?.detail).toContain('150 more problems are not listed, and 7 values after these were not')
})

test('every problem of a small value is found', () => {
  const { error } = parsed(z.array(z.string()), Array(250).fill(1))
  expect(problemCount(zodIssues(error as z.ZodError, ''))).toBe(250)
})

test('the check of a large value ends at the first problem and says so', () => {
  const schema = z.strictObject({ tools: z.array(z.string()) })
  const { error } = parsed(schema, { tools: Array(100_000).fill(1) })
  const found = zodIssues(error as z.ZodError, '/a')
  expect(problemCount(found)).toBe(1)
  expect(found.map(({ pointer, detail }) => ({ pointer, detail }))).toEqual([
    { pointer: '/a/tools/0', detail: 'must be of the type string, not number' },
    { pointer: '', detail: expect.stringContaining('its check stopped at the first problem') },
  ])
})

test('a value that gives more problems than zod can join is refused', () => {
  let checks = 0
  const overflowing = z.array(z.string()).superRefine((_, context) => {
    checks += 1
    if (checks > 1) throw new RangeError('Maximum call stack size exceeded')
    context.addIssue({ code: 'custom', message: 'is wrong' })
  })
  const { error } = parsed(overflowing, Array(101).fill('a'))
  const stopped = expect.stringContaining('its check stopped at the first problem')
  expect(zodIssues(error as z.ZodError, '').map(({ detail }) => detail)).toEqual(['is wrong', stopped])
})
