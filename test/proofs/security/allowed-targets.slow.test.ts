import { expect, test } from 'vitest'
import { broken } from '../proof.ts'
import { x3 } from './allowed-targets.ts'

test('X3 webhooks reach only allowed targets', async () => {
  expect(broken(await x3.run('short', () => {}))).toEqual([])
})
