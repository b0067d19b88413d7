import { expect, test } from 'vitest'
import { broken } from '../proof.ts'
import { f1 } from './requests.ts'

// A busy machine may need ten times as long.
test('F1 responses to generated requests on all routes agree with the OpenAPI document, and refusals change nothing', {
  timeout: 300_000,
}, async () => {
  const told: string[] = []
  const figures = await f1.run('short', (line) => told.push(line))
  expect(broken(figures), told.join('\n')).toEqual([])
})
