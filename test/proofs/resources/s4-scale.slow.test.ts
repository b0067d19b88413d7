import { expect, test } from 'vitest'
import { broken } from '../proof.ts'
import { s4 } from './s4-scale.ts'

test('S4 many sandboxes and many records keep neither a start nor an exit nor a reset waiting, and lose nothing', async () => {
  expect(broken(await s4.run('short', () => {}))).toEqual([])
})
