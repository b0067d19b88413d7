import { expect, test } from 'vitest'
import { Settings } from '../../kernel/assumptions.ts'
import type { Batch } from './batch.ts'
import { resultLines } from './results.ts'
import { batches } from './schema.ts'

const settings = new Settings()

function completed(items: number): Batch {
  return batches.schema(settings).parse({
    id: 'batch "1"',
    status: 'completed',
    model: 'm',
    created_at: '2026-03-01T12:00:00.000Z',
    in_progress_at: '2026-03-01T12:00:00.000Z',
    finalizing_at: '2026-03-01T12:00:00.000Z',
    completed_at: '2026-03-01T12:00:00.000Z',
    _emulator: {
      teamspace_id: 'ts-a',
      organization_id: 'org-1',
      request: {
        prompt: 'p',
        output_schema: { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] },
        items: Array.from({ length: items }, (_, n) => ({ custom_id: `item-${n}`, file_id: 'f' })),
      },
    },
  })
}

test('R217 a line is made only when it is asked for', () => {
  const batch = completed(5_000)
  const { request } = batch._emulator
  const touched = new Set<PropertyKey>()
  const items = new Proxy(request.items, {
    get: (list, key) => {
      if (key !== 'length') touched.add(key)
      return Reflect.get(list, key)
    },
  })
  const lines = resultLines(
    { ...batch, _emulator: { ...batch._emulator, request: { ...request, items } } },
    settings,
  )
  for (let n = 0; n < 3; n++) lines.next()
  expect([...touched]).toEqual(['0', '1', '2'])
  expect(lines.return().done).toBe(true)
  expect(lines.next().done).toBe(true)
})

test('R216 every reader gets the same bytes, from the record as it stands or read back from a document', () => {
  const batch = completed(50)
  const bytes = [...resultLines(batch, settings)].join('')
  expect([...resultLines(batch, settings)].join('')).toBe(bytes)
  const readBack = batches.schema(settings).parse(JSON.parse(JSON.stringify(batch)))
  expect([...resultLines(readBack, settings)].join('')).toBe(bytes)
})

test('R212 each line ends with its only line break, and quotes in ids are escaped', () => {
  for (const line of resultLines(completed(3), settings)) {
    expect(line.indexOf('\n')).toBe(line.length - 1)
    expect(JSON.parse(line).batch_id).toBe('batch "1"')
  }
})

test('other seeds give other outputs', () => {
  const batch = completed(20)
  const plan = { ...batch._emulator.plan, seed: 2 }
  const other = { ...batch, _emulator: { ...batch._emulator, plan } }
  expect([...resultLines(other, settings)]).not.toEqual([...resultLines(batch, settings)])
})
