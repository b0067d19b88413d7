import { expect, test } from 'vitest'
import { broken } from '../proof.ts'
import { s1 } from './soak.ts'

test('S1 memory and handles do not grow under continuous load', async () => {
  expect(broken(await s1.run('short', () => {}))).toEqual([])
})
