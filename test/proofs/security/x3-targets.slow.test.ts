import { expect, test } from 'vitest'
import { broken } from '../proof.ts'
import { x3 } from './x3-targets.ts'

test('X3 webhooks reach what is allowed and nobody else', async () => {
  expect(broken(await x3.run('short', () => {}))).toEqual([])
})
