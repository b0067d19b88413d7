import { expect, test } from 'vitest'
import { broken } from '../proof.ts'
import { f3 } from './f3-batches.ts'

// A machine that is busy with something else may take ten times as long.
test('F3 no sequence of commands departs from the model of batches, and every race has one outcome', {
  timeout: 300_000,
}, async () => {
  const told: string[] = []
  const figures = await f3.run('short', (line) => told.push(line))
  expect(broken(figures), told.join('\n')).toEqual([])
})
