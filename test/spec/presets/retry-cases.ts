import { aBatch } from '../../support/batches.ts'
import { armed, type PresetCase, USERS } from './preset-case.ts'
import { answered, outcome, parse } from './views.ts'

const KEYED = { json: aBatch(), headers: { 'Idempotency-Key': 'k-1' } }

/**
 * Creates a batch twice with one key, which makes one batch.
 * @param made the number of batches after the first creation
 * @param how `stays`: the rule is removed before the second creation
 */
function twice(preset: string, first: object, made: 0 | 1, how: 'untilHeld' | 'stays' | '' = ''): PresetCase {
  return armed(
    preset,
    async ({ call, clear, sandbox }) => {
      const batches = () => [...sandbox.store.rows('batch_predictions').keys()]
      const one = await call('POST', '/batch-predictions', { ...KEYED, untilHeld: how === 'untilHeld' })
      const made = batches().length
      if (how === 'stays') await clear()
      const two = await call('POST', '/batch-predictions', KEYED)
      const { idempotency } = sandbox.log.entries().at(-1) ?? {}
      return {
        first: answered(one),
        made,
        then: two.status,
        idempotency,
        isOnly: `${batches()}` === parse(two.body)?.id,
      }
    },
    { first, made, then: 200, idempotency: made === 0 ? 'fresh' : 'replay', isOnly: true },
  )
}

export const retryCases: readonly PresetCase[] = [
  twice('lost-response-after-commit', { status: null, broke: 'broken' }, 1),
  twice('timeout-then-late-success', { status: null, broke: 'timeout' }, 1, 'untilHeld'),
  twice('ambiguous-gateway-5xx', { status: 504, code: null }, 1, 'stays'),
  twice('concurrent-same-key', { status: 409, code: 'Idempotency Key In Use' }, 0),
  twice('key-reuse-different-body', { status: 409, code: 'Idempotency Key Reused' }, 0),
  armed(
    'server-error',
    async ({ post, clear, sandbox }) => {
      const [first, second] = [await post('/pages', { name: 'x' }), await post('/pages', { name: 'x' })]
      await clear()
      const third = await post('/pages', { name: 'x' })
      const remaining = first.headers['x-ratelimit-remaining']
      return [answered(first), remaining, second.status, third.status, sandbox.store.rows('pages').size]
    },
    [{ status: 500, code: 'internal_error' }, '199', 500, 200, 1],
  ),
  armed(
    'unavailable-with-retry-after',
    async ({ get, clear }) => {
      const [first, again] = [await get(USERS), await get(USERS)]
      await clear()
      return [answered(first), first.headers['retry-after'], again.status, outcome(await get(USERS))]
    },
    [{ status: 503, code: 'service_unavailable' }, '2', 503, { status: 200, bytes: 'some' }],
  ),
]
