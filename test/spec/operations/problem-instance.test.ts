import { expect, test } from 'vitest'
import { KEYS } from '../../support/base-state.ts'
import { testEmulator } from '../../support/emulator.ts'
import { bearer, overSocket, requestBytes } from '../../support/wire-client.ts'

test.each([
  ['/v1/batch-predictions/b-1', '/v1/batch-predictions/b-1'],
  ['/v1/batch-predictions/{id}', '/v1/batch-predictions/%7Bid%7D'],
  ['/v1/batch-predictions/a[0]%2F%41', '/v1/batch-predictions/a%5B0%5D%2F%41'],
  ['/v1/batch-predictions/100%', '/v1/batch-predictions/100%25'],
  ['/v1/batch-predictions/a#b', '/v1/batch-predictions/a%23b'],
])('the instance of a problem is a URI reference: %s', { tags: ['R245', 'U066'] }, async (path, instance) => {
  const { emulator } = await testEmulator()
  const headers = { Host: 'localhost', ...bearer(KEYS.KU) }
  const { text } = await overSocket(emulator.port, requestBytes({ path, headers }))
  expect(JSON.parse(text.slice(text.indexOf('{'))).instance).toBe(instance)
})
