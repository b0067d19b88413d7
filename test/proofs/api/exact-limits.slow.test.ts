import { expect, test } from 'vitest'
import { broken } from '../proof.ts'
import { f4 } from './exact-limits.ts'

// A busy machine may need ten times as long.
test('F4 the rate limiter agrees with its definition for every pattern of arrivals', {
  timeout: 300_000,
}, async () => {
  const told: string[] = []
  const figures = await f4.run('short', (line) => told.push(line))
  expect(broken(figures), told.join('\n')).toEqual([])
})
