import { expect, test } from 'vitest'
import { workspaceService } from '../src/emulator/service.ts'
import { testEmulator } from './support/emulator.ts'
import { MESSAGE, sampleRecords } from './support/sample-calls.ts'

const { assumptions } = workspaceService

const ids = (letter: string, count: number, digits: number) =>
  Array.from({ length: count }, (_, n) => letter + String(n + 1).padStart(digits, '0'))

test('every open item and every ambiguity of the specification is listed once in the assumptions', () => {
  expect([...assumptions.items.keys()].sort()).toEqual([...ids('T', 40, 2), ...ids('U', 81, 3)].sort())
})

test('every assumption describes the open question and the decision in sentences', () => {
  for (const { id, open, decision } of assumptions.items.values()) {
    expect(open, id).toMatch(/^[A-Z0-9"`X].{10,}\.$|^[a-z_`/].{10,}\.$/s)
    expect(decision, id).toMatch(/.{10,}\.$/s)
  }
})

test('every setting belongs to an assumption, has a description, and accepts its own default', () => {
  for (const { key, item, description, schema, default: value, strict } of assumptions.settings.values()) {
    expect(assumptions.items.has(item), key).toBe(true)
    expect(description, key).toMatch(/[.\]}]$/)
    expect(schema().safeParse(value).success, key).toBe(true)
    if (strict !== undefined) expect(schema().safeParse(strict).success, key).toBe(true)
    expect(key).toMatch(/^[a-z0-9_]+(\.[a-z0-9_-]+)*$/)
  }
})

test('a response that relies on an open item names it, and other responses name none', {
  tags: ['R004'],
}, async () => {
  const emulator = await testEmulator({ collections: sampleRecords })
  expect((await emulator.post('/pages', { name: 'x' })).assumed).toContain('U002')
  expect((await emulator.get('/organization/teamspaces/ts-a/users')).assumed).toEqual(['U020'])
  const feedback = await emulator.post(`/conversations/conversation-1/messages/${MESSAGE}`, { like: 1 })
  expect([feedback.status, feedback.assumed]).toEqual([204, []])
})
