import { expect, test } from 'vitest'
import { Settings } from '../../core/assumptions.ts'
import { batches } from './batches.ts'
import { resultLines } from './responses.ts'
import type { Batch } from './schema.ts'

const settings = new Settings()
const at = (settings: Settings) => ({ settings, controlUrl: 'http://127.0.0.1:4010/__emulator' })

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
  const lines = resultLines(
    { ...batch, _emulator: { ...batch._emulator, request: { ...request, items } } },
    at(settings),
  )
  for (let n = 0; n < 3; ) if (lines.next().value !== '') n++
  expect([...touched]).toEqual(['0', '1', '2'])
  expect(lines.return().done).toBe(true)
  expect(lines.next().done).toBe(true)
})

test('every reader gets the same bytes, also after the record was exported and imported', {
  tags: ['R216'],
}, () => {
  const batch = completed(50)
  const bytes = [...resultLines(batch, at(settings))].join('')
  expect([...resultLines(batch, at(settings))].join('')).toBe(bytes)
  const readBack = batches.schema(settings).parse(JSON.parse(JSON.stringify(batch)))
  expect([...resultLines(readBack, at(settings))].join('')).toBe(bytes)
})

test('each line ends with its only line break, and quotes in ids are escaped', { tags: ['R212'] }, () => {
  for (const line of resultLines(completed(3), at(settings))) {
    expect(line.indexOf('\n')).toBe(line.length - 1)
    expect(JSON.parse(line).batch_id).toBe('batch "1"')
  }
})

/** A batch whose outputs need a pattern that often takes exponential time. */
function searched(items: number, schema: object): Batch {
  const batch = completed(items)
  const properties = { a: { type: 'string', ...schema } }
  const output_schema = { type: 'object', properties, required: ['a'] }
  const request = { ...batch._emulator.request, output_schema }
  return { ...batch, _emulator: { ...batch._emulator, request } }
}

test('one reader searches for outputs for a bounded time, and every line has one', { tags: ['R217'] }, () => {
  const batch = searched(500, { pattern: '^(a+)+\\1b$', minLength: 30 })
  const began = process.cpuUsage()
  const lines = [...resultLines(batch, at(settings))].map((line) => JSON.parse(line))
  const { user } = process.cpuUsage(began)
  for (const { status, output } of lines) {
    expect(status).toBe('succeeded')
    expect(output.a).toMatch(/^a+b$/)
  }
  // Without a bound it takes a minute of the processor.
  expect(user / 1_000).toBeLessThan(15_000)
})

test('an item without an output is errored with the reason', { tags: ['U079'] }, () => {
  const [line = ''] = resultLines(searched(1, { enum: [] }), at(settings))
  expect(JSON.parse(line)).toMatchObject({
    status: 'errored',
    output: null,
    error: { detail: expect.stringMatching(/^No output was found for output_schema, at .properties.a.enum/) },
  })
})

test('different seeds give different outputs', () => {
  const batch = completed(20)
  const plan = { ...batch._emulator.plan, seed: 2 }
  const other = { ...batch, _emulator: { ...batch._emulator, plan } }
  expect([...resultLines(other, at(settings))]).not.toEqual([...resultLines(batch, at(settings))])
})

/** The lines of a batch of four that ended when item-0 and item-1 were finished. */
function linesOf(rest: 'errored' | 'canceled' | 'expired', plan: object = {}, own: Settings = settings) {
  const batch = completed(4)
  const { _emulator: facts } = batch
  const _emulator = {
    ...facts,
    plan: { ...facts.plan, ...plan },
    progress: { ...facts.progress, done: 2 },
    ended: { rest, cause: `It was ${rest}.` },
  }
  return [...resultLines({ ...batch, _emulator }, at(own))].map((line) => JSON.parse(line))
}

test('a line has exactly its fields, and either an output or an error', {
  tags: ['R096', 'R098', 'R099'],
}, () => {
  const [done, , open] = linesOf('expired')
  expect(Object.keys(done)).toEqual(['object', 'batch_id', 'custom_id', 'status', 'output', 'error'])
  expect(done).toMatchObject({ object: 'batch_prediction.result', custom_id: 'item-0', status: 'succeeded' })
  expect([Number.isInteger(done.output.n), done.error]).toEqual([true, null])
  expect(open).toMatchObject({ custom_id: 'item-2', status: 'expired', output: null })
  expect(Object.keys(open.error).sort()).toEqual(['detail', 'status', 'title', 'type'])
})

test.for([
  ['errored', 'prediction_failed'],
  ['canceled', 'canceled'],
  ['expired', 'expired'],
] as const)('an unfinished item is %s with the cause of the end', { tags: ['R097'] }, ([rest, code]) => {
  const lines = linesOf(rest)
  expect(lines.map(({ status }) => status)).toEqual(['succeeded', 'succeeded', rest, rest])
  expect(lines[3].error.detail).toBe(`It was ${rest}.`)
  expect(lines[3].error.type).toMatch(new RegExp(`/[a-z_]*${code}$`))
})

test('after failed validation the lines of rejected items have their own reasons, and other lines the cause', {
  tags: ['R103'],
}, () => {
  const rejected = [{ index: 3, detail: 'There is no such file.' }]
  const details = linesOf('errored', { rejected }).map(({ error }) => error?.detail ?? null)
  expect(details).toEqual([null, null, 'It was errored.', 'There is no such file.'])
  const canceled = linesOf('canceled', { rejected })
  expect([canceled[3].status, canceled[3].error.detail]).toEqual(['canceled', 'It was canceled.'])
})

test('an item that finished with an error has it in its line, although the batch continued', {
  tags: ['R251'],
}, () => {
  const outcomes = [
    { match: { index: 0 }, status: 'errored', detail: 'Unreadable.' },
    { match: { index: 1 }, status: 'succeeded', output: { n: 7 } },
  ]
  const [first, second] = linesOf('canceled', { stages: [{ from: 0, outcomes }] })
  expect(first).toMatchObject({
    status: 'errored',
    output: null,
    error: { status: 422, detail: 'Unreadable.' },
  })
  expect(second).toMatchObject({ status: 'succeeded', output: { n: 7 }, error: null })
})

test('shuffled results have each line exactly once, in an order that depends on the seed', {
  tags: ['U048'],
}, () => {
  const shuffled = new Settings({ 'batch.results.order': 'shuffled' })
  const batch = completed(40)
  const [plain, mixed] = [[...resultLines(batch, at(settings))], [...resultLines(batch, at(shuffled))]]
  expect(mixed).not.toEqual(plain)
  expect([...mixed].sort()).toEqual([...plain].sort())
  expect([...resultLines(batch, at(shuffled))]).toEqual(mixed)
  const other = { ...batch._emulator, plan: { ...batch._emulator.plan, seed: 2 } }
  const ids = (lines: Iterable<string>) => [...lines].map((line) => JSON.parse(line).custom_id)
  expect(ids(resultLines({ ...batch, _emulator: other }, at(shuffled)))).not.toEqual(ids(mixed))
  expect([...resultLines(completed(1), at(shuffled))]).toEqual([...resultLines(completed(1), at(settings))])
})
