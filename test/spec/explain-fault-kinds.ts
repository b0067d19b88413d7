import { KEYS } from '../support/base-state.ts'
import type { TestEmulator } from '../support/emulator.ts'
import { batchBody } from '../support/sample-calls.ts'
import { type Said, send } from '../support/send.ts'
import type { Kind } from './explain-kinds.ts'

const LIST = { operation: 'data-views.list' }
const CREATE = { operation: 'batch-predictions.create' }

/** Arms rules, then makes a request for them. Ignores the result on the wire, because the log has the request. */
function under(rules: readonly object[], make: (emulator: TestEmulator) => Promise<unknown>): Kind['make'] {
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

/** Requests with armed fault rules, some of which fire. */
export const faultKinds: readonly Kind[] = [
  {
    name: 'ok-fault-rules-that-do-not-fire',
    make: under(
      [
        { preset: 'rate-limited', match: { operation: 'agents.list' } },
        { id: 'third', match: LIST, when: { nth: 3, by: 'api_key' }, do: [{ respond: { status: 500 } }] },
        {
          id: 'rarely',
          match: 'everything',
          when: { probability: 0.01 },
          do: [{ respond: { status: 500 } }],
        },
        {
          id: 'later',
          match: { path: { regex: '^/v1/data' } },
          when: { from: '2027-01-01T00:00:00.000Z' },
          do: [{ respond: { status: 500 } }],
        },
      ],
      list,
    ),
  },
  {
    name: 'ok-fault-on-the-wire',
    make: under(
      [
        { id: 'odd-body', match: LIST, then: 'continue', do: [{ body: { patch: { more: true } } }] },
        { id: 'odd-head', match: LIST, do: [{ head: { case: 'lower' } }, { quota: { remaining: 3 } }] },
        { id: 'never-asked', match: LIST, do: [{ respond: { status: 500 } }] },
      ],
      list,
    ),
  },
  {
    name: 'ok-fault-cut-after-the-handler',
    make: under([{ preset: 'lost-response-after-commit' }], create),
  },
  {
    name: 'ok-fault-answers-instead',
    make: under([{ id: 'none', match: LIST, do: [{ respond: { status: 200, body: { data: [] } } }] }], list),
  },
  { name: 'ok-fault-moves-the-sandbox', make: under([{ preset: 'batch-instant-terminal' }], create) },
  {
    name: 'cut-fault-before-read',
    make: under([{ id: 'gone', match: CREATE, do: [{ cut: { at: 'before-read', how: 'rst' } }] }], create),
  },
  {
    name: '503-service_unavailable-fault',
    make: under(
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
  },
  {
    name: '502-bad_gateway-fault-proxy',
    make: under([{ preset: 'html-error-page' }], list),
  },
  {
    // The API has no conditional requests: only a fault responds with this.
    name: '412-precondition_failed-fault',
    make: under(
      [{ id: 'stale', match: LIST, do: [{ respond: { status: 412, code: 'precondition_failed' } }] }],
      list,
    ),
  },
  {
    name: '504-gateway_timeout-fault-after-the-effect',
    make: under([{ preset: 'ambiguous-gateway-5xx' }], create),
  },
  {
    name: '409-idempotency_key_in_use-fault',
    make: under([{ preset: 'concurrent-same-key' }], create),
  },
  {
    name: '429-rate_limit_exceeded-fault',
    make: under([{ preset: 'batch-admission-concurrency' }], create),
  },
  { name: '401-unauthorized-fault-revoked', make: under([{ preset: 'token-revoked' }], list) },
  {
    name: '401-unauthorized-fault',
    make: under([{ id: 'expired', match: LIST, do: [{ auth: { expire_now: true } }] }], list),
  },
]
