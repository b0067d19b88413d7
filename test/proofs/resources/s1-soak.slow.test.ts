import { expect, test } from 'vitest'
import { broken } from '../proof.ts'
import { s1 } from './s1-soak.ts'

test('S1 under load that goes on nothing grows', async () => {
  expect(broken(await s1.run('short', () => {}))).toEqual([])
})
