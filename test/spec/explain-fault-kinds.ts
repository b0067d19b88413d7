import { KEYS } from '../support/base-state.ts'
import type { TestEmulator } from '../support/emulator.ts'
import { batchBody } from '../support/sample-calls.ts'
import { type Said, send } from '../support/send.ts'
import type { Kinds, Make } from './explain-kinds.ts'

const LIST = { operation: 'data-views.list' }
const CREATE = { operation: 'batch-predictions.create' }

/** Arms rules, then makes a request for them. Ignores the result on the wire, because the log has the request. */
function under(rules: readonly object[], make: (emulator: TestEmulator) => Promise<unknown>): Make {
  return async (emulator) => {
    const { status, body } = await emulator.control('POST', '/faults', rules)
    if (status !== 201) throw new Error(JSON.stringify(body))
    await make(emulator).catch(() => {})
    await settled(emulator)
    return emulator.sandbox.log.entries().at(-1)?.id ?? ''
  }
}

// An adapter reports the sent part of a response at the end of the exchange, possibly after the client has seen it.
async function settled({ sandbox }: TestEmulator): Promise<void> {
  const { faults } = sandbox.log.entries().at(-1) ?? {}
  for (let turn = 0; turn < 1_000 && faults !== undefined && faults.sent === undefined; turn++)
    await new Promise(setImmediate)
}

const request = (
  emulator: TestEmulator,
  method: string,
  path: string,
  said: Omit<Said, 'authorization'> = {},
) => send(emulator, method, path, { ...said, authorization: `Bearer ${KEYS.KU}` })

const list = (emulator: TestEmulator) => request(emulator, 'GET', '/v1/data-views?limit=1')

const create = (emulator: TestEmulator) =>
  request(emulator, 'POST', '/v1/batch-predictions', {
    json: batchBody(),
    headers: { 'idempotency-key': 'try-1', 'x-emulator-tag': 'blue' },
  })

const FAIL = [{ respond: { status: 500 } }]

/** Requests with armed fault rules, some of which fire. */
export const faultKinds: Kinds = {
  'ok-fault-rules-that-do-not-fire': under(
    [
      { preset: 'rate-limited', match: { operation: 'agents.list' } },
      { id: 'third', match: LIST, when: { nth: 3, by: 'api_key' }, do: FAIL },
      { id: 'rarely', match: 'everything', when: { probability: 0.01 }, do: FAIL },
      {
        ...{ id: 'later', match: { path: { regex: '^/v1/data' } }, do: FAIL },
        when: { from: '2027-01-01T00:00:00.000Z' },
      },
    ],
    list,
  ),
  'ok-fault-cut-after-the-handler': under([{ preset: 'lost-response-after-commit' }], create),
  'ok-fault-answers-instead': under(
    [{ id: 'none', match: LIST, do: [{ respond: { status: 200, body: { data: [] } } }] }],
    list,
  ),
  'ok-fault-moves-the-sandbox': under([{ preset: 'batch-instant-terminal' }], create),
  'ok-fault-on-the-wire': under(
    [
      { id: 'odd-body', match: LIST, then: 'continue', do: [{ body: { patch: { more: true } } }] },
      { id: 'odd-head', match: LIST, do: [{ head: { case: 'lower' } }, { quota: { remaining: 3 } }] },
      { id: 'never-asked', match: LIST, do: [{ respond: { status: 500 } }] },
    ],
    list,
  ),
  'cut-fault-before-read': under(
    [{ id: 'gone', match: CREATE, do: [{ cut: { at: 'before-read', how: 'rst' } }] }],
    create,
  ),
  '503-service_unavailable-fault': under(
    [
      {
        id: 'steps',
        match: CREATE,
        when: { sequence: ['down', 'pass'], by: ['operation', 'tag'] },
        actions: { down: [{ respond: { status: 503 } }] },
      },
    ],
    create,
  ),
  '502-bad_gateway-fault-proxy': under([{ preset: 'html-error-page' }], list),
  '504-gateway_timeout-fault-after-the-effect': under([{ preset: 'ambiguous-gateway-5xx' }], create),
  '409-idempotency_key_in_use-fault': under([{ preset: 'concurrent-same-key' }], create),
  '429-rate_limit_exceeded-fault': under([{ preset: 'batch-admission-concurrency' }], create),
  '401-unauthorized-revoked': under([{ preset: 'token-revoked' }], list),
  '401-unauthorized-fault': under(
    [{ id: 'expired', match: LIST, do: [{ auth: { expire_now: true } }] }],
    list,
  ),
  // The API has no conditional requests: only a fault responds with this.
  '412-precondition_failed-fault': under(
    [{ id: 'stale', match: LIST, do: [{ respond: { status: 412, code: 'precondition_failed' } }] }],
    list,
  ),
}
