import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Settings } from '../../src/core/assumptions.ts'
import { change } from '../../src/core/sandboxes/change.ts'
import { Sandbox } from '../../src/core/sandboxes/sandbox.ts'
import { parseDuration } from '../../src/core/time/instant.ts'
import { advanceTo, runDueEvents } from '../../src/core/time/run-events.ts'
import { batches } from '../../src/service/batch-predictions/batches.ts'
import { shownBatch } from '../../src/service/batch-predictions/responses.ts'
import type { Batch } from '../../src/service/batch-predictions/schema.ts'
import { isTerminal } from '../../src/service/batch-predictions/states.ts'
import { callBatches } from '../support/batch-calls.ts'
import { aBatch, batchEmulator } from '../support/batches.ts'

const WORDS = 'start finish complete instant fail expire cancel cleanup hold release'.split(' ')

const DURATIONS = ['0s', '1s', '2s', '59m', '1h', '5h', '23h', '30d']

const pace = fc.constantFrom<object>(
  { in_progress: { per_item: '1h' } },
  { in_progress: '3h' },
  { in_progress: { polls: 3 } },
  { validating: 'hold' },
  { in_progress: 'immediate', finalizing: '1h' },
)

const move = fc.oneof(
  fc.constantFrom(...WORDS),
  fc.record({ finished: fc.oneof(fc.double({ min: 0, max: 0.99, noNaN: true }), fc.nat({ max: 9 })) }),
  fc.record({ do: fc.constantFrom('fail', 'expire', 'cancel'), finished: fc.constantFrom(0, 0.5, 1, 3, 9) }),
  fc.record({ hold: fc.constantFrom(true, false, 'validating', 'in_progress', 'finalizing') }),
  fc.record({ pace }),
  fc.record({ pace, do: fc.constantFrom('start', 'finish', 'release') }),
  fc.record({ outcomes: fc.constantFrom([], [{ status: 'errored' }], [{ every: 2, status: 'errored' }]) }),
)

const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ move }) },
  { weight: 3, arbitrary: fc.record({ by: fc.constantFrom(...DURATIONS) }) },
  { weight: 1, arbitrary: fc.record({ call: fc.constantFrom('retrieve', 'cancel') }) },
)

type Step = { readonly move?: unknown; readonly by?: string; readonly call?: string }

const name = fc.constantFrom('emu:slow:', 'emu:expired:', 'emu:errored:', '', '')
const names = fc.array(name, { minLength: 1, maxLength: 6 })

/** One batch in its own sandbox; `end` is its terminal state once seen, as JSON. */
interface Life {
  readonly sandbox: Sandbox
  readonly id: string
  end: string | undefined
}

function take(life: Life, { move: argument, by, call }: Step): void {
  const { sandbox, id } = life
  if (by !== undefined) advanceTo(sandbox, sandbox.clock.now + (parseDuration(by) ?? 0))
  else if (call !== undefined) callBatches(sandbox, call, { id })
  else change(sandbox, (scope) => sandbox.service.recordFaults.get('batch')?.apply(scope, id, argument))
  inspect(life)
}

function inspect(life: Life): void {
  const { sandbox, id } = life
  // As before a request: a batch that ends more than 29 days after its creation loses its results at once.
  runDueEvents(sandbox)
  const record = sandbox.store.get(batches.name, id) as Batch
  expect(batches.schema(new Settings()).safeParse(record).error).toBeUndefined()
  const { settings, name, clock } = sandbox
  const context = { now: clock.now, sandbox: name, settings, controlUrl: '' }
  const { request_counts, results_url: _, ...rest } = shownBatch(record, context)
  const { total, ...parts } = request_counts
  expect(Object.values(parts).reduce((sum, each) => sum + each, 0)).toBe(total)
  expect(Object.values(parts).every((each) => each >= 0)).toBe(true)
  const told = [...sandbox.store.rows('webhook_deliveries').values()]
  expect(told).toHaveLength(isTerminal(record.status) ? 1 : 0)
  const seen = JSON.stringify({ ...rest, parts })
  if (life.end !== undefined) expect(seen).toBe(life.end)
  if (!isTerminal(record.status)) return
  life.end = seen
  expect(parts.processing).toBe(0)
  checkLines(life, record, parts)
}

function checkLines({ sandbox, id }: Life, { results_url }: Batch, parts: Record<string, number>): void {
  const { status, lines } = callBatches(sandbox, 'results', { id })
  expect(status).toBe(results_url === null ? 410 : 200)
  if (results_url === null) return
  const told = Object.fromEntries(Object.keys(parts).map((name) => [name, 0]))
  for (const line of lines) told[line.status] = (told[line.status] ?? 0) + 1
  expect(told).toEqual(parts)
}

test('any moves leave consistent counts, one end and one webhook', { tags: ['R295'] }, async () => {
  const webhooks = [{ id: 'hook', url: 'http://127.0.0.1:9/', created_at: '2026-01-01T00:00:00.000Z' }]
  const { sandbox: origin } = await batchEmulator({}, { collections: { webhooks } })
  const start = origin.capture()
  fc.assert(
    fc.property(names, fc.array(step, { minLength: 1, maxLength: 12 }), (prefixes, steps) => {
      const sandbox = new Sandbox(origin.options, start)
      const items = prefixes.map((prefix, n) => ({ custom_id: `${prefix}item-${n}`, file_id: 'file-pdf' }))
      const { id } = callBatches(sandbox, 'create', { body: aBatch({ items }) }).body
      const life: Life = { sandbox, id, end: undefined }
      for (const each of steps) take(life, each)
      take(life, { move: 'release' })
      take(life, { by: '30d' })
    }),
    {
      numRuns: 50,
      examples: [
        [[''], [{ move: { finished: 1 } }, { move: { hold: true } }, { by: '30d' }, { move: 'instant' }]],
      ],
    },
  )
})
