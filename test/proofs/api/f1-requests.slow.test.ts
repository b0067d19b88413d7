import { expect, test } from 'vitest'
import { broken } from '../proof.ts'
import { f1 } from './f1-requests.ts'

// A machine that is busy with something else may take ten times as long.
test('F1 generated requests over all routes are answered as the description says, and refusals change nothing', {
  timeout: 300_000,
}, async () => {
  const told: string[] = []
  const figures = await f1.run('short', (line) => told.push(line))
  expect(broken(figures), told.join('\n')).toEqual([])
})
