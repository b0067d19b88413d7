import { expect, test } from 'vitest'
import { broken } from '../proof.ts'
import { leaks, x6 } from './canaries.ts'

test('X6 no secret is in a response, in the control interface, or on the disk', async () => {
  expect(broken(await x6.run('short', () => {}))).toEqual([])
})

test('X6 the search finds a secret that is present', () => {
  expect(leaks('key live_canary-api-key')).toEqual(['canary-api-key'])
  expect(leaks('canary-webhook-secret', ['canary-webhook-secret'])).toEqual([])
})
