import { expect, test } from 'vitest'
import { broken } from '../proof.ts'
import { s4 } from './s4-scale.ts'

test('S4 many sandboxes and many records do not delay a start, a stop or a reset, and no record is lost', async () => {
  expect(broken(await s4.run('short', () => {}))).toEqual([])
})
