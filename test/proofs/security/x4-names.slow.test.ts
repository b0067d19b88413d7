import { expect, test } from 'vitest'
import { broken } from '../proof.ts'
import { x4 } from './x4-names.ts'

test('X4 no name is taken for anything but a name', async () => {
  expect(broken(await x4.run('short', () => {}))).toEqual([])
})
