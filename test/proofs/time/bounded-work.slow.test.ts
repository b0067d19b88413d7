import { expect, test } from 'vitest'
import { broken } from '../proof.ts'
import { t1 } from './bounded-work.ts'

test('T1 the work for one request is bounded', async () => {
  expect(broken(await t1.run('short', () => {}))).toEqual([])
})
