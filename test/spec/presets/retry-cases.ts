import { aBatch } from '../../support/batches.ts'
import { type PresetCase, USERS } from './preset-case.ts'
import type { Stage } from './stage.ts'
import { answered, outcome, parse } from './views.ts'

const KEYED = { json: aBatch(), headers: { 'Idempotency-Key': 'k-1' } }

function batches(stage: Stage): number {
  return stage.sandbox.store.rows('batch_predictions').size
}

/** Creates a batch twice with one key. If the preset stays, its rule is removed before the second creation. */
function twice(preset: string, expected: object, { untilHeld = false, stays = false } = {}): PresetCase {
  return {
    preset,
    run: async (stage) => {
      await stage.arm(preset)
      const first = await stage.call('POST', '/batch-predictions', { ...KEYED, untilHeld })
      const made = batches(stage)
      if (stays) await stage.clear()
      const second = await stage.call('POST', '/batch-predictions', KEYED)
      return {
        first: answered(first),
        made,
        then: second.status,
        batches: batches(stage),
        replayed: stage.sandbox.log.entries().at(-1)?.idempotency,
        id: parse(second.body)?.id === [...stage.sandbox.store.rows('batch_predictions').keys()][0],
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
    run: async (stage) => {
      await stage.arm('server-error')
      const first = await stage.call('POST', '/pages', { json: { name: 'x' } })
      const second = await stage.call('POST', '/pages', { json: { name: 'x' } })
      await stage.clear()
      const third = await stage.call('POST', '/pages', { json: { name: 'x' } })
      return {
        first: answered(first),
        limit: first.headers['x-ratelimit-remaining'],
        then: [second.status, third.status],
        pages: stage.sandbox.store.rows('pages').size,
      }
    },
    expected: { first: { status: 500, code: 'internal_error' }, limit: '199', then: [500, 200], pages: 1 },
  },
  {
    preset: 'unavailable-with-retry-after',
    run: async (stage) => {
      await stage.arm('unavailable-with-retry-after')
      const first = await stage.call('GET', USERS)
      const again = await stage.call('GET', USERS)
      await stage.clear()
      return {
        first: answered(first),
        retry_after: first.headers['retry-after'],
        again: again.status,
        then: outcome(await stage.call('GET', USERS)),
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
