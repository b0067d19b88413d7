import { expect, test } from 'vitest'
import { broken } from '../proof.ts'
import { x4 } from './names.ts'

test('X4 names such as __proto__ are always treated as plain names', async () => {
  expect(broken(await x4.run('short', () => {}))).toEqual([])
})
