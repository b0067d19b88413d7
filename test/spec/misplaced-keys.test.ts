import { expect, test } from 'vitest'
import { KEYS } from '../support/base-state.ts'
import { testEmulator } from '../support/emulator.ts'

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
