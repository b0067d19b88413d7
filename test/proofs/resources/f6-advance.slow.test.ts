import { expect, test } from 'vitest'
import { broken } from '../proof.ts'
import { f6 } from './f6-advance.ts'

// A machine that is busy with something else may take ten times as long.
test('F6 nothing that the clock has to do keeps the event loop', { timeout: 300_000 }, async () => {
  const told: string[] = []
  const figures = await f6.run('short', (line) => told.push(line))
  expect(broken(figures), told.join('\n')).toEqual([])
})
