import { expect, test } from 'vitest'
import { broken } from '../proof.ts'
import { f6 } from './advance.ts'

// A busy machine may need ten times as long.
test('F6 no work of the clock keeps other requests waiting', { timeout: 300_000 }, async () => {
  const told: string[] = []
  const figures = await f6.run('short', (line) => told.push(line))
  expect(broken(figures), told.join('\n')).toEqual([])
})
