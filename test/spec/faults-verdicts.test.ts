import { expect, test } from 'vitest'
import { faultsOf } from '../../src/core/faults/trace.ts'
import { testEmulator } from '../support/emulator.ts'
import { armRule } from '../support/faults.ts'

const never = { do: [{ respond: { status: 500 } }] }

test('the reason why a rule did not fire contains no secret of the request', async () => {
  const emulator = await testEmulator()
  for (const match of [
    { body: { '/claim_token': { equals: 'x' } } },
    { body: { '': { equals: 'x' } } },
    { body: { '/claim_token': { equals: '(redacted)' } } },
    { headers: { 'x-api-key': 'x' } },
    { query: { api_token: 'x' } },
  ])
    armRule(emulator.sandbox, { ...never, match })
  await emulator.request('POST', '/agents/claim?api_token=canary-query', {
    json: { claim_token: 'canary-claim' },
    headers: { 'x-api-key': 'canary-header' },
  })
  const entry = emulator.sandbox.log.entries().at(-1)
  expect(entry?.operation).toBe('agents.claim')
  expect(faultsOf(entry?.faults).map(({ fired }) => fired)).toEqual([false, false, false, false, false])
  expect(JSON.stringify(entry)).not.toContain('canary')
  expect(JSON.stringify(entry)).toContain('(redacted)')
})
