import { expect, test } from 'vitest'
import { broken } from '../proof.ts'
import { f3 } from './batches.ts'

// A busy machine may need ten times as long.
test('F3 every sequence of commands agrees with the model of batches, and every race has exactly one outcome', {
  timeout: 300_000,
  tags: ['R083', 'R114', 'R115', 'R221', 'R295'],
}, async () => {
  const told: string[] = []
  const figures = await f3.run('short', (line) => told.push(line))
  expect(broken(figures), told.join('\n')).toEqual([])
})
