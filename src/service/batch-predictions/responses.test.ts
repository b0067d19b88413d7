import { expect, test } from 'vitest'
import { running } from '../../../test/support/running-batch.ts'
import { Settings } from '../../core/assumptions.ts'
import type { JsonObject } from '../../core/json.ts'
import { resultLines } from './responses.ts'
import type { Batch } from './schema.ts'

const NOON = '2026-03-01T12:00:00.000Z'
const at = { settings: new Settings(), controlUrl: 'http://127.0.0.1:4010/__emulator' }

function completed(items: number, property: JsonObject = { type: 'integer' }): Batch {
  const { _emulator, ...batch } = running(items, {}, { done: items })
  const output_schema = { type: 'object', properties: { n: property }, required: ['n'] }
  const ended = { id: 'batch "1"', status: 'completed', finalizing_at: NOON, completed_at: NOON } as const
  return { ...batch, ...ended, _emulator: { ..._emulator, request: { ..._emulator.request, output_schema } } }
}

test('a line is generated only when it is read', { tags: ['R217'] }, () => {
  const batch = completed(5_000)
  const { request } = batch._emulator
  const touched = new Set<PropertyKey>()
  const items = new Proxy(request.items, {
    get: (list, key) => {
      if (key !== 'length') touched.add(key)
      return Reflect.get(list, key)
    },
  })
  const _emulator = { ...batch._emulator, request: { ...request, items } }
  const lines = resultLines({ ...batch, _emulator }, at)
  for (let n = 0; n < 3; ) if (lines.next().value !== '') n++
  expect([...touched]).toEqual(['0', '1', '2'])
  expect([lines.return().done, lines.next().done]).toEqual([true, true])
})

test('one reader searches for outputs for a bounded time, and every line has one', { tags: ['R217'] }, () => {
  // This pattern often takes exponential time: without a bound it takes a minute of the processor.
  const batch = completed(500, { type: 'string', pattern: '^(a+)+\\1b$', minLength: 30 })
  const began = process.cpuUsage()
  const lines = [...resultLines(batch, at)].map((line) => JSON.parse(line))
  const { user } = process.cpuUsage(began)
  for (const { output } of lines) expect(output.n).toMatch(/^a+b$/)
  expect(user / 1_000).toBeLessThan(15_000)
})

test('different seeds give different outputs', () => {
  const batch = completed(20)
  const other = { ...batch._emulator, plan: { ...batch._emulator.plan, seed: 2 } }
  expect([...resultLines({ ...batch, _emulator: other }, at)]).not.toEqual([...resultLines(batch, at)])
})

test.for([
  ['errored', [null, null, 'It ended.', 'There is no such file.']],
  ['canceled', [null, null, 'It ended.', 'It ended.']],
] as const)('items that became %s say why', { tags: ['R103'] }, ([rest, details]) => {
  const rejected = [{ index: 3, detail: 'There is no such file.', pages: false }]
  const { _emulator, ...batch } = running(4, { rejected }, { done: 2 })
  const ended = { ..._emulator, ended: { rest, cause: 'It ended.' } }
  const lines = [...resultLines({ ...batch, _emulator: ended }, at)].map((line) => JSON.parse(line))
  expect(lines.map(({ error }) => error?.detail ?? null)).toEqual(details)
  expect(lines[3].status).toBe(rest)
})
