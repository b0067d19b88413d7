import { expect, test } from 'vitest'
import { broken } from '../proof.ts'
import { x1 } from './control-guards.ts'

test('X1 every control route refuses unauthorized requests', async () => {
  expect(broken(await x1.run('short', () => {}))).toEqual([])
})
