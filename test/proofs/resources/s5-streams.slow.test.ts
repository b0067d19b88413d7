import { expect, test } from 'vitest'
import { broken } from '../proof.ts'
import { s5 } from './s5-streams.ts'

test('S5 a stream of results does not block other clients, however fast its reader is', async () => {
  expect(broken(await s5.run('short', () => {}))).toEqual([])
})
