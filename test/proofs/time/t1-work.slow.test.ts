import { expect, test } from 'vitest'
import { broken } from '../proof.ts'
import { t1 } from './t1-work.ts'

test('T1 what is done for one request comes to its end', async () => {
  expect(broken(await t1.run('short', () => {}))).toEqual([])
})
