import { expect, test } from 'vitest'
import type { Finding } from './finding.ts'
import { findingCounts, findingLines, findingsFrom } from './finding-lines.ts'

const finding = (severity: Finding['severity'], requests = ['r-1']): Finding => ({
  ...{ code: 'wait.none', message: 'It did not wait.', section: 'Limits', fix: 'Wait.', evidence: {} },
  severity,
  requests,
})

test('a finding is the verdict with its message, its requests, and the fix', () => {
  const lines = ['error wait.none: It did not wait.', '  request r-1', '  Wait.']
  expect(findingLines(finding('error'))).toEqual(lines)
})

test('of many requests ten are named', () => {
  const ids = Array.from({ length: 13 }, (_, n) => `r-${n}`)
  expect(findingLines(finding('note', ids))[1]).toBe(`  requests ${ids.slice(0, 10).join(', ')} and 3 more`)
  expect(findingLines(finding('note', ids.slice(0, 10)))[1]).toBe(`  requests ${ids.slice(0, 10).join(', ')}`)
})

test('findings are counted by severity', () => {
  expect(findingCounts([])).toBe('no findings')
  expect(findingCounts([finding('error'), finding('error'), finding('note')])).toBe('2 errors, 1 note')
})

test('the findings from a severity on include the more severe ones', () => {
  const all = [finding('error'), finding('warning'), finding('note')]
  expect(findingsFrom(all, 'error')).toEqual(all.slice(0, 1))
  expect(findingsFrom(all, 'warning')).toEqual(all.slice(0, 2))
})
