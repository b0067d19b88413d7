import { expect, onTestFinished, test } from 'vitest'
import { openEmulator } from '../emulator/emulator.ts'
import { TEMPLATES } from './rule-templates.ts'

test('the emulator accepts the template of each primitive', async () => {
  const emulator = await openEmulator({ port: 0, ephemeral: true, rate: 0 })
  onTestFinished(() => emulator.close())
  const check = async (part: object) => {
    const body = JSON.stringify({ match: 'everything', ...part })
    const headers = { 'content-type': 'application/json' }
    const url = `${emulator.url}/__emulator/faults?dry_run=true`
    const response = await fetch(url, { method: 'POST', headers, body })
    return response.ok ? [] : [`${body} ${await response.text()}`]
  }
  const parts = Object.values(TEMPLATES).map((part) => ({ when: { every: 1 }, ...part }))
  expect((await Promise.all(parts.map(check))).flat()).toEqual([])
})
