import { expect, test } from 'vitest'
import { broken } from '../proof.ts'
import { s6 } from './s6-connections.ts'

test('S6 idle or waiting connections do not block other clients', async () => {
  expect(broken(await s6.run('short', () => {}))).toEqual([])
})
