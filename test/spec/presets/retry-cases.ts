import { aBatch } from '../../support/batches.ts'
import { type PresetCase, USERS } from './preset-case.ts'
import type { Subject } from './setup.ts'
import { answered, outcome, parse } from './views.ts'

const KEYED = { json: aBatch(), headers: { 'Idempotency-Key': 'k-1' } }

function batches(subject: Subject): number {
  return subject.sandbox.store.rows('batch_predictions').size
}

/** Creates a batch twice with one key. If the preset stays, its rule is removed before the second creation. */
function twice(preset: string, expected: object, { untilHeld = false, stays = false } = {}): PresetCase {
  return {
    preset,
    run: async (subject) => {
      await subject.arm(preset)
      const first = await subject.call('POST', '/batch-predictions', { ...KEYED, untilHeld })
      const made = batches(subject)
      if (stays) await subject.clear()
      const second = await subject.call('POST', '/batch-predictions', KEYED)
      return {
        first: answered(first),
        made,
        then: second.status,
        batches: batches(subject),
        replayed: subject.sandbox.log.entries().at(-1)?.idempotency,
        id: parse(second.body)?.id === [...subject.sandbox.store.rows('batch_predictions').keys()][0],
      }
    },
    expected,
  }
}

const LOST = {
  first: { status: null, broke: 'broken' },
  made: 1,
  then: 200,
  batches: 1,
  replayed: 'replay',
  id: true,
}

export const retryCases: readonly PresetCase[] = [
  twice('lost-response-after-commit', LOST),
  twice(
    'timeout-then-late-success',
    { ...LOST, first: { status: null, broke: 'timeout' } },
    { untilHeld: true },
  ),
  twice('ambiguous-gateway-5xx', { ...LOST, first: { status: 504, code: null } }, { stays: true }),
  twice('concurrent-same-key', {
    ...LOST,
    first: { status: 409, code: 'Idempotency Key In Use' },
    made: 0,
    replayed: 'fresh',
  }),
  twice('key-reuse-different-body', {
    ...LOST,
    first: { status: 409, code: 'Idempotency Key Reused' },
    made: 0,
    replayed: 'fresh',
  }),
  {
    preset: 'server-error',
    run: async (subject) => {
      await subject.arm('server-error')
      const first = await subject.call('POST', '/pages', { json: { name: 'x' } })
      const second = await subject.call('POST', '/pages', { json: { name: 'x' } })
      await subject.clear()
      const third = await subject.call('POST', '/pages', { json: { name: 'x' } })
      return {
        first: answered(first),
        limit: first.headers['x-ratelimit-remaining'],
        then: [second.status, third.status],
        pages: subject.sandbox.store.rows('pages').size,
      }
    },
    expected: { first: { status: 500, code: 'internal_error' }, limit: '199', then: [500, 200], pages: 1 },
  },
  {
    preset: 'unavailable-with-retry-after',
    run: async (subject) => {
      await subject.arm('unavailable-with-retry-after')
      const first = await subject.call('GET', USERS)
      const again = await subject.call('GET', USERS)
      await subject.clear()
      return {
        first: answered(first),
        retry_after: first.headers['retry-after'],
        again: again.status,
        then: outcome(await subject.call('GET', USERS)),
      }
    },
    expected: {
      first: { status: 503, code: 'service_unavailable' },
      retry_after: '2',
      again: 503,
      then: { status: 200, bytes: 'some' },
    },
  },
]
