import { expect, test } from 'vitest'
import { broken } from '../proof.ts'
import { x2 } from './x2-cors.ts'

test('X2 pages of this machine read the API, others do not, and nobody the control interface', async () => {
  expect(broken(await x2.run('short', () => {}))).toEqual([])
})
