import { expect, test } from 'vitest'
import { broken } from '../proof.ts'
import { s2 } from './s2-bodies.ts'

test('S2 large bodies are accepted within bounds', async () => {
  expect(broken(await s2.run('short', () => {}))).toEqual([])
})
