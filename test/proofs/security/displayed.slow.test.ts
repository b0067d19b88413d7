import { expect, test } from 'vitest'
import { broken } from '../proof.ts'
import { x5 } from './displayed.ts'

test('X5 text of a caller is always displayed as plain text', async () => {
  expect(broken(await x5.run('short', () => {}))).toEqual([])
})
