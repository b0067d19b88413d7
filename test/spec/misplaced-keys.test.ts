import { expect, test } from 'vitest'
import { faultsOf } from '../../src/core/faults/trace.ts'
import { KEYS } from '../support/base-state.ts'
import { testEmulator } from '../support/emulator.ts'
import { armRule } from '../support/faults.ts'

test('a key in a place where none belongs is masked in log, explanation and HAR', async () => {
  const emulator = await testEmulator()
  const unknown = 'live_0123456789abcdef'
  for (const key of [KEYS.KU, unknown]) {
    const referer = `http://a.example/?from=${key}&x=1`
    const headers = { 'idempotency-key': key, referer, 'x-note': `my ${key}` }
    const json = { token: key, deep: [{ note: `use ${key}, please` }], [key]: 1 }
    await emulator.request('POST', `/pages?limit=${key}`, { headers, json })
    await emulator.request('GET', `/data-views?limit=${key}`)
    await emulator.request('GET', `/nowhere/${key}`)
  }
  const { body, text } = await emulator.control('GET', '/requests?full=true')
  const texts = [text, (await emulator.control('GET', '/requests/har')).text]
  for (const { id } of body.data) texts.push((await emulator.control('GET', `/explain/${id}`)).text)
  expect(body.data).toHaveLength(6)
  for (const each of texts) {
    expect(each).not.toContain(KEYS.KU)
    expect(each).not.toContain(unknown)
    expect(each).toContain('(redacted)')
  }
})

test('words that are no keys stay in the log', async () => {
  const emulator = await testEmulator()
  await emulator.post('/pages?limit=live_x', { a: 'live' }, { headers: { 'x-note': 'service desk' } })
  expect((await emulator.control('GET', '/requests?full=true')).text).not.toContain('(redacted)')
})

test('the reason why a rule did not fire contains no secret of the request', async () => {
  const emulator = await testEmulator()
  for (const match of [
    { body: { '/claim_token': { equals: 'x' } } },
    { body: { '': { equals: 'x' } } },
    { body: { '/claim_token': { equals: '(redacted)' } } },
    { headers: { 'x-api-key': 'x' } },
    { query: { api_token: 'x' } },
  ])
    armRule(emulator.sandbox, { match, do: [{ respond: { status: 500 } }] })
  const headers = { 'x-api-key': 'canary-header' }
  await emulator.post('/agents/claim?api_token=canary-query', { claim_token: 'canary-claim' }, { headers })
  const entry = emulator.sandbox.log.entries().at(-1)
  expect(entry?.operation).toBe('agents.claim')
  expect(faultsOf(entry?.faults).map(({ fired }) => fired)).toEqual([false, false, false, false, false])
  expect(JSON.stringify(entry)).not.toContain('canary')
  expect(JSON.stringify(entry)).toContain('(redacted)')
})
