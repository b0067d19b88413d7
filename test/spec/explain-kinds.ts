import { Refusal } from '../../src/core/errors.ts'
import { respondUnrouted } from '../../src/core/request/pipeline.ts'
import { change } from '../../src/core/sandboxes/change.ts'
import { workspaceService } from '../../src/emulator/service.ts'
import { KEYS, type KeyName } from '../support/base-state.ts'
import { type TestEmulator, type TestEmulatorOptions, testEmulator } from '../support/emulator.ts'
import { fullDisk, journalOf } from '../support/journal.ts'
import { batchBody, MESSAGE, sampleCalls, sampleRecords } from '../support/sample-calls.ts'
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

/** A request that needs nothing before it. */
const request =
  (method: string, path: string, said?: Request): Make =>
  (emulator) =>
    send(emulator, method, path, said)

/** A request of an operation that succeeds. */
const succeed =
  (name: string): Make =>
  async (emulator) => {
    const call = (await sampleCalls(emulator)).find((each) => each.name === name)
    if (call === undefined) throw new Error(`there is no sample call of ${name}`)
    return send(emulator, call.method, `/v1${call.path}`, { json: call.options.json })
  }

/** A request of each operation that can succeed: the others are only among the refusals. */
export const successKinds: Kinds = Object.fromEntries(
  [...workspaceService.operations.keys()]
    .filter((name) => !['converse.create', 'search.query'].includes(name))
    .map((name) => [`ok-${name}`, succeed(name)]),
)

const FIRST = { json: batchBody(), headers: { 'idempotency-key': 'try-1' } }
const CALLBACK = '/v1/organization/mcp-servers/server-1/oauth-callback'
const FEEDBACK = '/v1/conversations/conversation-1/messages'
const CONTENT = { conversation_id: 'conversation-1', kind: 'user' }

/** Requests that succeed in special ways. */
export const specialKinds: Kinds = {
  'ok-idempotency-first-use': request('POST', BATCHES, FIRST),
  'ok-idempotency-replay': async (emulator) => {
    await send(emulator, 'POST', BATCHES, FIRST)
    return send(emulator, 'POST', BATCHES, FIRST)
  },
  'ok-poll-that-skips': {
    emulator: { collections: sampleRecords, skipOnPoll: true },
    make: async (emulator) => send(emulator, 'GET', `${BATCHES}/${await batch(emulator)}`),
  },
  'ok-poll-that-ends-a-batch-and-leaves-a-webhook': {
    emulator: {
      settings: { 'batch.pace': ONE_POLL, 'webhooks.subscriptions': [{ url: 'http://127.0.0.1:9/hook' }] },
    },
    make: async (emulator) => send(emulator, 'GET', `${BATCHES}/${await batch(emulator)}`),
  },
  'ok-after-due-events': async (emulator) => {
    const id = await batch(emulator)
    // As with a running clock: due events run before the request is handled.
    emulator.sandbox.clock.moveTo(emulator.now() + 3_600_000)
    return send(emulator, 'GET', `${BATCHES}/${id}`)
  },
  'ok-limits-off': {
    emulator: { limits: false },
    make: async (emulator) => {
      await emulator.control('POST', '/limits/data-views.list/fill', { remaining: 0 })
      return send(emulator, 'GET', '/v1/data-views')
    },
  },
  'ok-sandbox-by-path': request('GET', '/@w3/v1/data-views?limit=1'),
  'ok-sandbox-by-header': request('GET', '/v1/data-views', { headers: { 'x-emulator-sandbox': 'w3' } }),
  'ok-sandbox-by-token': request('GET', '/v1/data-views', { token: `${KEYS.KU}@w3` }),
  'ok-body-not-kept': request('POST', '/v1/pages', { json: { name: 'Plan', filler: 'x'.repeat(17_000) } }),
}

/** A refusal of each code, and of each step that can raise it. */
export const refusalKinds: Kinds = {
  '400-bad_request-percent': request('GET', '/v1/agents/%zz/automations'),
  '400-bad_request-sandbox-name': request('GET', '/v1/data-views', {
    headers: { 'x-emulator-sandbox': 'No Name' },
  }),
  '400-bad_request-wire': (emulator) => write(emulator, 'NONSENSE\r\n\r\n'),
  '400-validation_failed-body': request('POST', '/v1/pages', { json: { name: 5 } }),
  '400-validation_failed-query': request('GET', '/v1/data-views?limit=0&limit=1&offset=x'),
  '400-validation_failed-no-body': request('POST', '/v1/agents/claim'),
  '400-validation_failed-idempotency-key': request('POST', BATCHES, {
    ...{ json: batchBody(), headers: { 'idempotency-key': 'x'.repeat(256) } },
  }),
  '400-validation_failed-secret': request('POST', CALLBACK, {
    json: { code: 'secret-code', state: 'secret-state', redirect_uri: 'https://app.example/callback' },
  }),
  '422-validation_failed-by-setting': {
    emulator: { settings: { 'status.validation': 422 } },
    make: request('POST', '/v1/pages', { json: { name: 5 } }),
  },
  '400-malformed_json': request('POST', '/v1/pages', { raw: '{"name": ' }),
  '400-malformed_message_id': request('POST', `${FEEDBACK}/not-a-uuid`, { json: { like: 1 } }),
  '400-not_an_agent_message': {
    emulator: { collections: { ...sampleRecords, messages: [{ id: MESSAGE, _emulator: CONTENT }] } },
    make: request('POST', `${FEEDBACK}/${MESSAGE}`, { json: { like: 1 } }),
  },
  '400-root_conversation': {
    emulator: {
      collections: { conversations: [{ id: 'root', _emulator: { teamspace_id: 'ts-a', root: true } }] },
    },
    make: request('DELETE', '/v1/conversations/root'),
  },
  '401-unauthorized-no-key': request('GET', '/v1/data-views', { token: '' }),
  '401-unauthorized-unknown-key': request('GET', '/v1/data-views', { token: 'live_x' }),
  '403-forbidden-denied': async (emulator) => {
    const keys = emulator.state('api_keys')
    const denied = { ...keys.find(({ id }) => id === 'key-member'), denied: ['data-views.list'] }
    change(emulator.sandbox, ({ tx }) => tx.put('api_keys', denied))
    return send(emulator, 'GET', '/v1/data-views', { key: 'KM' })
  },
  '403-forbidden-membership': (emulator) => {
    change(emulator.sandbox, ({ tx }) => tx.delete('memberships', 'm-member'))
    return send(emulator, 'GET', '/v1/data-views', { key: 'KM' })
  },
  // A private skill of another user would be a 404.
  '403-forbidden-rights': {
    emulator: {
      collections: {
        skills: [{ ...sampleRecords.skills?.[0], scope: 'builtin', creator_id: null, builtin_key: 'dig' }],
      },
    },
    make: request('POST', '/v1/skills/skill-1/promote', { key: 'KM' }),
  },
  '403-forbidden-host': request('GET', '/v1/data-views', { headers: { host: 'elsewhere.example' } }),
  '403-mcp_oauth_requires_user_principal': request('POST', CALLBACK, { key: 'KS', json: {} }),
  '404-not_found': request('GET', `${BATCHES}/nothing`),
  '404-not_found-claim': request('POST', '/v1/agents/claim', { json: { claim_token: 'guess' } }),
  '404-route_not_found': request('GET', '/v1/batch-prediction?limit=1'),
  '404-route_not_found-outside': request('GET', '/elsewhere'),
  '405-method_not_allowed': request('PUT', '/v1/data-views'),
  // A real client would have to wait for the timeout of the server, in real seconds.
  '408-request_timeout': ({ sandbox }) => {
    const nothing = { method: '', path: '', errorFormat: 'standard', chosenBy: 'default' } as const
    const refusal = new Refusal('request_timeout', { detail: 'The request did not arrive in time.' })
    const { headers } = respondUnrouted(sandbox, nothing, refusal)
    return headers.find(([name]) => name === 'X-Emulator-Request-Id')?.[1] ?? ''
  },
  '409-conflict': async (emulator) => {
    const id = await batch(emulator)
    emulator.advance('1h')
    return send(emulator, 'POST', `${BATCHES}/${id}/cancel`)
  },
  '409-results_not_ready': async (emulator) =>
    send(emulator, 'GET', `${BATCHES}/${await batch(emulator)}/results`),
  '409-idempotency_key_reused': async (emulator) => {
    await send(emulator, 'POST', BATCHES, { ...FIRST, json: batchBody(1) })
    return send(emulator, 'POST', BATCHES, { ...FIRST, json: batchBody(2) })
  },
  '410-results_gone': async (emulator) => {
    const id = await batch(emulator)
    emulator.advance('30d')
    return send(emulator, 'GET', `${BATCHES}/${id}/results`)
  },
  '413-payload_too_large': {
    emulator: { settings: { 'http.body_limit': 100 } },
    make: request('POST', '/v1/pages', { json: { name: 'x'.repeat(101) } }),
  },
  '415-unsupported_media_type': request('POST', '/v1/pages', {
    ...{ raw: 'name=x', headers: { 'content-type': 'application/x-www-form-urlencoded' } },
  }),
  '417-expectation_failed': request('GET', '/v1/data-views', { headers: { expect: 'a miracle' } }),
  '429-rate_limit_exceeded-window': async (emulator) => {
    await emulator.control('POST', '/limits/data-views.list/fill', { remaining: 0 })
    return send(emulator, 'GET', '/v1/data-views')
  },
  '429-rate_limit_exceeded-admission': {
    emulator: { collections: sampleRecords, settings: { 'limits.admission.concurrency': 1 } },
    make: async (emulator) => {
      await batch(emulator)
      return send(emulator, 'POST', BATCHES, { json: batchBody() })
    },
  },
  '431-header_fields_too_large': (emulator) =>
    write(emulator, `GET / HTTP/1.1\r\nHost: localhost\r\nX-Long: ${'x'.repeat(20_000)}\r\n\r\n`),
  '500-internal_error': (emulator) => {
    emulator.sandbox.store.journal = journalOf(() => JSON.parse('a defect'))
    return send(emulator, 'POST', '/v1/pages', { json: { name: 'Plan' } })
  },
  '501-emulator_contract_unspecified-converse': request('POST', '/v1/converse', { json: {} }),
  '501-emulator_contract_unspecified-search': request('GET', '/v1/search?query=x'),
  '501-emulator_contract_unspecified-strict': {
    emulator: { collections: sampleRecords, strict: true },
    make: request('GET', '/v1/agents'),
  },
  '507-storage_unavailable': (emulator) => {
    emulator.sandbox.store.journal = fullDisk
    return send(emulator, 'POST', '/v1/pages', { json: { name: 'Plan' } })
  },
}
