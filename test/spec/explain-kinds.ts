import { change } from '../../src/core/sandboxes/change.ts'
import { KEYS, type KeyName } from '../support/base-state.ts'
import { type TestEmulator, type TestEmulatorOptions, testEmulator } from '../support/emulator.ts'
import { fullDisk, journalOf } from '../support/journal.ts'
import { batchBody, sampleCalls, sampleRecords } from '../support/sample-calls.ts'
import { type Said, send as sendRequest } from '../support/send.ts'
import { overSocket } from '../support/wire-client.ts'

/** Makes a request, after all that it needs. Returns its id. */
export type Make = (emulator: TestEmulator) => Promise<string> | string

/** The kinds of requests that can be explained, by the names of their golden files; some with an emulator of their own. */
export type Kinds = Readonly<Record<string, Make | { readonly emulator: TestEmulatorOptions; make: Make }>>

/** Makes a request of this kind. One kind causes a defect on purpose, so defects are not logged and fail no test. */
export async function made(kind: Kinds[string]): Promise<{ emulator: TestEmulator; id: string }> {
  const logger = { info: () => {}, warn: () => {}, error: () => {} }
  const { emulator: options, make } = typeof kind === 'function' ? { emulator: {}, make: kind } : kind
  const emulator = await testEmulator({ collections: sampleRecords, logger, ...options })
  return { emulator, id: await make(emulator) }
}

interface Request extends Omit<Said, 'authorization'> {
  readonly key?: KeyName | undefined
  /** Sent instead of a key; an empty text sends no Authorization header. */
  readonly token?: string
}

/** Sends a request with exactly these headers. @returns its id */
async function send(emulator: TestEmulator, method: string, path: string, request: Request = {}) {
  const { key = 'KU', token = KEYS[key], ...said } = request
  const authorization = token === '' ? undefined : `Bearer ${token}`
  const { headers } = await sendRequest(emulator, method, path, { ...said, authorization })
  return String(headers['x-emulator-request-id'])
}

/** Sends bytes. @returns the id of the request that the emulator read from them */
async function write({ emulator }: TestEmulator, bytes: string): Promise<string> {
  const { text } = await overSocket(emulator.port, bytes)
  return /^x-emulator-request-id: (.*)$/im.exec(text)?.[1]?.trim() ?? text
}

const BATCHES = '/v1/batch-predictions'
const ONE_POLL = { validating: 'immediate', in_progress: 'immediate', finalizing: { polls: 1 } }

async function batch(emulator: TestEmulator, items = 2): Promise<string> {
  return (await emulator.post('/batch-predictions', batchBody(items))).body.id
}

/** A request of an operation that succeeds. */
const succeed =
  (name: string): Make =>
  async (emulator) => {
    const call = (await sampleCalls(emulator)).find((each) => each.name === name)
    if (call === undefined) throw new Error(`there is no sample call of ${name}`)
    return send(emulator, call.method, `/v1${call.path}`, { json: call.options.json })
  }

/** A read, and each kind of effect; explain.test.ts is about the effects of all operations. */
export const successKinds: Kinds = {
  'ok-agents.claim': succeed('agents.claim'),
  'ok-batch-predictions.cancel': succeed('batch-predictions.cancel'),
  'ok-batch-predictions.create': succeed('batch-predictions.create'),
  'ok-data-views.list': succeed('data-views.list'),
  'ok-mcp-servers.oauth-callback': succeed('mcp-servers.oauth-callback'),
  'ok-pages.create': succeed('pages.create'),
}

/** Requests that succeed in special ways. */
export const specialKinds: Kinds = {
  'ok-idempotency-replay': async (emulator) => {
    const sent = { json: batchBody(), headers: { 'idempotency-key': 'try-1' } }
    await send(emulator, 'POST', BATCHES, sent)
    return send(emulator, 'POST', BATCHES, sent)
  },
  'ok-poll-that-ends-a-batch-and-leaves-a-webhook': {
    emulator: {
      settings: { 'batch.pace': ONE_POLL, 'webhooks.subscriptions': [{ url: 'http://127.0.0.1:9/hook' }] },
    },
    make: async (emulator) => send(emulator, 'GET', `${BATCHES}/${await batch(emulator)}`),
  },
  'ok-sandbox-by-path': (emulator) => send(emulator, 'GET', '/@w3/v1/data-views?limit=1'),
}

/** Refusals by each step that can raise one. */
export const refusalKinds: Kinds = {
  '400-bad_request-percent': (emulator) => send(emulator, 'GET', '/v1/agents/%zz/automations'),
  '400-bad_request-wire': (emulator) => write(emulator, 'NONSENSE\r\n\r\n'),
  '400-validation_failed-body': (emulator) => send(emulator, 'POST', '/v1/pages', { json: { name: 5 } }),
  '400-validation_failed-idempotency-key': (emulator) =>
    send(emulator, 'POST', BATCHES, { json: batchBody(), headers: { 'idempotency-key': 'x'.repeat(256) } }),
  '400-validation_failed-secret': (emulator) =>
    send(emulator, 'POST', '/v1/organization/mcp-servers/server-1/oauth-callback', {
      json: { code: 'secret-code', state: 'secret-state', redirect_uri: 'https://app.example/callback' },
    }),
  '400-malformed_message_id': (emulator) =>
    send(emulator, 'POST', '/v1/conversations/conversation-1/messages/not-a-uuid', {
      json: { like: 1 },
    }),
  '401-unauthorized-no-key': (emulator) => send(emulator, 'GET', '/v1/data-views', { token: '' }),
  '403-forbidden-denied': async (emulator) => {
    const keys = emulator.state('api_keys')
    const denied = { ...keys.find(({ id }) => id === 'key-member'), denied: ['data-views.list'] }
    change(emulator.sandbox, ({ tx }) => tx.put('api_keys', denied))
    return send(emulator, 'GET', '/v1/data-views', { key: 'KM' })
  },
  '403-forbidden-host': (emulator) =>
    send(emulator, 'GET', '/v1/data-views', { headers: { host: 'elsewhere.example' } }),
  '404-not_found': (emulator) => send(emulator, 'GET', `${BATCHES}/nothing`),
  '404-route_not_found': (emulator) => send(emulator, 'GET', '/v1/batch-prediction?limit=1'),
  '405-method_not_allowed': (emulator) => send(emulator, 'PUT', '/v1/data-views'),
  '409-idempotency_key_reused': async (emulator) => {
    const headers = { 'idempotency-key': 'try-1' }
    await send(emulator, 'POST', BATCHES, { json: batchBody(1), headers })
    return send(emulator, 'POST', BATCHES, { json: batchBody(2), headers })
  },
  '429-rate_limit_exceeded-window': async (emulator) => {
    await emulator.control('POST', '/limits/data-views.list/fill', { remaining: 0 })
    return send(emulator, 'GET', '/v1/data-views')
  },
  '500-internal_error': (emulator) => {
    emulator.sandbox.store.journal = journalOf(() => JSON.parse('a defect'))
    return send(emulator, 'POST', '/v1/pages', { json: { name: 'Plan' } })
  },
  '501-emulator_contract_unspecified-strict': {
    emulator: { collections: sampleRecords, strict: true },
    make: (emulator) => send(emulator, 'GET', '/v1/agents'),
  },
  '507-storage_unavailable': (emulator) => {
    emulator.sandbox.store.journal = fullDisk
    return send(emulator, 'POST', '/v1/pages', { json: { name: 'Plan' } })
  },
}
