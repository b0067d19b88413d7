import { expect, test } from 'vitest'
import { Settings } from '../../core/assumptions.ts'
import { batches } from './batches.ts'
import { resultLines } from './responses.ts'
import type { Batch } from './schema.ts'

const settings = new Settings()
const reading = { settings, controlUrl: 'http://127.0.0.1:4010/__emulator' }

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

test('different seeds give different outputs', () => {
  const batch = completed(20)
  const plan = { ...batch._emulator.plan, seed: 2 }
  const other = { ...batch, _emulator: { ...batch._emulator, plan } }
  expect([...resultLines(other, reading)]).not.toEqual([...resultLines(batch, reading)])
})

/** The lines of a batch of four that ended when item-0 and item-1 were finished. */
function linesOf(rest: 'errored' | 'canceled', plan: object) {
  const batch = completed(4)
  const { _emulator: facts } = batch
  const _emulator = {
    ...facts,
    plan: { ...facts.plan, ...plan },
    progress: { ...facts.progress, done: 2 },
    ended: { rest, cause: `It was ${rest}.` },
  }
  return [...resultLines({ ...batch, _emulator }, reading)].map((line) => JSON.parse(line))
}

test('after failed validation the lines of rejected items have their own reasons, and other lines the cause', {
  tags: ['R103'],
}, () => {
  const rejected = [{ index: 3, detail: 'There is no such file.' }]
  const details = linesOf('errored', { rejected }).map(({ error }) => error?.detail ?? null)
  expect(details).toEqual([null, null, 'It was errored.', 'There is no such file.'])
  const canceled = linesOf('canceled', { rejected })
  expect([canceled[3].status, canceled[3].error.detail]).toEqual(['canceled', 'It was canceled.'])
})
