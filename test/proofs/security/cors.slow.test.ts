import { expect, test } from 'vitest'
import { broken } from '../proof.ts'
import { x2 } from './cors.ts'

test('X2 pages of this machine can read the API, other pages cannot, and only pages that are allowed can read the control interface', async () => {
  expect(broken(await x2.run('short', () => {}))).toEqual([])
})
