import { expect, test } from 'vitest'
import { broken } from '../proof.ts'
import { f5 } from './no-dependence.ts'

// A busy machine may need ten times as long.
test('F5 responses do not depend on order, or on the start of the clock', {
  timeout: 300_000,
}, async () => {
  const told: string[] = []
  const figures = await f5.run('short', (line) => told.push(line))
  expect(broken(figures), told.join('\n')).toEqual([])
})
