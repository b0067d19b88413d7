import { expect, test } from 'vitest'
import { broken } from '../proof.ts'
import { x5 } from './x5-displayed.ts'

test('X5 nothing that a caller has written is shown as more than text', async () => {
  expect(broken(await x5.run('short', () => {}))).toEqual([])
})
