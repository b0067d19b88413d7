import { connect } from 'node:net'
import { Refusal, refuse } from '../../src/core/errors.ts'
import { respondUnrouted } from '../../src/core/request/pipeline.ts'
import { change } from '../../src/core/sandboxes/change.ts'
import { KEYS, type KeyName } from '../support/base-state.ts'
import { type TestEmulator, type TestEmulatorOptions, testEmulator } from '../support/emulator.ts'
import { batchBody, MESSAGE, sampleCalls, sampleRecords } from '../support/sample-calls.ts'
import { type Said, send as sendRequest } from '../support/send.ts'

/** One kind of request that can be explained. Its golden file has the same name. */
export interface Kind {
  readonly name: string
  readonly emulator?: TestEmulatorOptions
  /** Makes the request, after all that it needs. Returns its id. */
  readonly make: (emulator: TestEmulator) => Promise<string> | string
}

/** The emulator of a kind. One kind causes a defect on purpose, so defects are not logged and fail no test. */
export function sandboxOf({ emulator = {} }: Kind): Promise<TestEmulator> {
  const logger = { info: () => {}, warn: () => {}, error: () => {} }
  return testEmulator({ collections: sampleRecords, logger, ...emulator })
}

interface Request extends Omit<Said, 'authorization'> {
  readonly key?: KeyName | undefined
  /** Sent instead of a key; an empty text sends no Authorization header. */
  readonly token?: string
}

/** Sends a request with exactly these headers. @returns its id */
async function send(
  emulator: TestEmulator,
  method: string,
  path: string,
  request: Request = {},
): Promise<string> {
  const { key = 'KU', token = KEYS[key], ...said } = request
  const authorization = token === '' ? undefined : `Bearer ${token}`
  const { headers } = await sendRequest(emulator, method, path, { ...said, authorization })
  return String(headers['x-emulator-request-id'])
}

/** Writes bytes to a socket. @returns the id of the request that the emulator read from them, else the response */
function write(emulator: TestEmulator, bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ''
    const socket = connect(emulator.emulator.port, '127.0.0.1', () => socket.write(bytes))
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1')
    })
    socket.on('error', reject)
    socket.on('close', () => resolve(/^x-emulator-request-id: (.*)$/im.exec(text)?.[1]?.trim() ?? text))
  })
}

const BATCHES = '/v1/batch-predictions'

async function batch(emulator: TestEmulator, items = 2): Promise<string> {
  return (await emulator.post('/batch-predictions', batchBody(items))).body.id
}

async function afterMonth(emulator: TestEmulator): Promise<string> {
  const id = await batch(emulator)
  emulator.advance('30d')
  return id
}

async function fill(emulator: TestEmulator, operation: string, remaining: number): Promise<void> {
  emulator.sandbox.limiter.fill(
    `ts-a ${operation}`,
    emulator.sandbox.limitOf(operation),
    emulator.now(),
    remaining,
  )
}

/** Replaces the journal, so that writes can fail. */
function withJournal(emulator: TestEmulator, append: () => void): void {
  emulator.sandbox.store.journal = { append }
}

/** Operations that never succeed, so only refusalKinds has them. */
const NEVER = ['converse.create', 'search.query']

/** A request of each operation that succeeds. */
export async function successKinds(operations: Iterable<string>): Promise<Kind[]> {
  const names = [...operations].filter((name) => !NEVER.includes(name))
  return names.map((name) => ({
    name: `ok-${name}`,
    make: async (emulator) => {
      const call = (await sampleCalls(emulator)).find((each) => each.name === name)
      if (call === undefined) throw new Error(`there is no sample call of ${name}`)
      return send(emulator, call.method, `/v1${call.path}`, { json: call.options.json })
    },
  }))
}

/** Requests that succeed in special ways. */
export const specialKinds: readonly Kind[] = [
  {
    name: 'ok-idempotency-first-use',
    make: (emulator) =>
      send(emulator, 'POST', BATCHES, { json: batchBody(), headers: { 'idempotency-key': 'try-1' } }),
  },
  {
    name: 'ok-idempotency-replay',
    make: async (emulator) => {
      const sent = { json: batchBody(), headers: { 'idempotency-key': 'try-1' } }
      await send(emulator, 'POST', BATCHES, sent)
      return send(emulator, 'POST', BATCHES, sent)
    },
  },
  {
    name: 'ok-poll-that-skips',
    emulator: { collections: sampleRecords, skipOnPoll: true },
    make: async (emulator) => send(emulator, 'GET', `${BATCHES}/${await batch(emulator)}`),
  },
  {
    name: 'ok-poll-that-ends-a-batch-and-leaves-a-webhook',
    emulator: {
      settings: {
        'batch.pace': { validating: 'immediate', in_progress: 'immediate', finalizing: { polls: 1 } },
        'webhooks.subscriptions': [{ url: 'http://127.0.0.1:9/hook' }],
      },
    },
    make: async (emulator) => send(emulator, 'GET', `${BATCHES}/${await batch(emulator)}`),
  },
  {
    name: 'ok-after-due-events',
    make: async (emulator) => {
      const id = await batch(emulator)
      // As with a running clock: due events run before the request is handled.
      emulator.sandbox.clock.moveTo(emulator.now() + 3_600_000)
      return send(emulator, 'GET', `${BATCHES}/${id}`)
    },
  },
  {
    name: 'ok-limits-off',
    emulator: { limits: false },
    make: async (emulator) => {
      await fill(emulator, 'data-views.list', 0)
      return send(emulator, 'GET', '/v1/data-views')
    },
  },
  { name: 'ok-sandbox-by-path', make: (emulator) => send(emulator, 'GET', '/@w3/v1/data-views?limit=1') },
  {
    name: 'ok-sandbox-by-header',
    make: (emulator) => send(emulator, 'GET', '/v1/data-views', { headers: { 'x-emulator-sandbox': 'w3' } }),
  },
  {
    name: 'ok-sandbox-by-token',
    make: (emulator) => send(emulator, 'GET', '/v1/data-views', { token: `${KEYS.KU}@w3` }),
  },
  {
    name: 'ok-body-not-kept',
    make: (emulator) =>
      send(emulator, 'POST', '/v1/pages', { json: { name: 'Plan', filler: 'x'.repeat(17_000) } }),
  },
]

/** A refusal of each code, and of each step that can raise it. */
export const refusalKinds: readonly Kind[] = [
  {
    name: '400-bad_request-percent',
    make: (emulator) => send(emulator, 'GET', '/v1/agents/%zz/automations'),
  },
  {
    name: '400-bad_request-sandbox-name',
    make: (emulator) =>
      send(emulator, 'GET', '/v1/data-views', { headers: { 'x-emulator-sandbox': 'No Name' } }),
  },
  { name: '400-bad_request-wire', make: (emulator) => write(emulator, 'NONSENSE\r\n\r\n') },
  {
    name: '400-validation_failed-body',
    make: (emulator) => send(emulator, 'POST', '/v1/pages', { json: { name: 5 } }),
  },
  {
    name: '400-validation_failed-query',
    make: (emulator) => send(emulator, 'GET', '/v1/data-views?limit=0&limit=1&offset=x'),
  },
  { name: '400-validation_failed-no-body', make: (emulator) => send(emulator, 'POST', '/v1/agents/claim') },
  {
    name: '400-validation_failed-idempotency-key',
    make: (emulator) =>
      send(emulator, 'POST', BATCHES, { json: batchBody(), headers: { 'idempotency-key': 'x'.repeat(256) } }),
  },
  {
    name: '400-validation_failed-secret',
    make: (emulator) =>
      send(emulator, 'POST', '/v1/organization/mcp-servers/server-1/oauth-callback', {
        json: { code: 'secret-code', state: 'secret-state', redirect_uri: 'https://app.example/callback' },
      }),
  },
  {
    name: '422-validation_failed-by-setting',
    emulator: { settings: { 'status.validation': 422 } },
    make: (emulator) => send(emulator, 'POST', '/v1/pages', { json: { name: 5 } }),
  },
  {
    name: '400-malformed_json',
    make: (emulator) => send(emulator, 'POST', '/v1/pages', { raw: '{"name": ' }),
  },
  {
    name: '400-malformed_message_id',
    make: (emulator) =>
      send(emulator, 'POST', '/v1/conversations/conversation-1/messages/not-a-uuid', {
        json: { like: 1 },
      }),
  },
  {
    name: '400-not_an_agent_message',
    emulator: {
      collections: {
        ...sampleRecords,
        messages: [{ id: MESSAGE, _emulator: { conversation_id: 'conversation-1', kind: 'user' } }],
      },
    },
    make: (emulator) =>
      send(emulator, 'POST', `/v1/conversations/conversation-1/messages/${MESSAGE}`, {
        json: { like: 1 },
      }),
  },
  {
    name: '400-root_conversation',
    emulator: {
      collections: { conversations: [{ id: 'root', _emulator: { teamspace_id: 'ts-a', root: true } }] },
    },
    make: (emulator) => send(emulator, 'DELETE', '/v1/conversations/root'),
  },
  {
    name: '401-unauthorized-no-key',
    make: (emulator) => send(emulator, 'GET', '/v1/data-views', { token: '' }),
  },
  {
    name: '401-unauthorized-unknown-key',
    make: (emulator) => send(emulator, 'GET', '/v1/data-views', { token: 'live_x' }),
  },
  {
    name: '403-forbidden-denied',
    make: async (emulator) => {
      const keys = emulator.state('api_keys')
      const denied = { ...keys.find(({ id }) => id === 'key-member'), denied: ['data-views.list'] }
      change(emulator.sandbox, ({ tx }) => tx.put('api_keys', denied))
      return send(emulator, 'GET', '/v1/data-views', { key: 'KM' })
    },
  },
  {
    name: '403-forbidden-membership',
    make: (emulator) => {
      change(emulator.sandbox, ({ tx }) => tx.delete('memberships', 'm-member'))
      return send(emulator, 'GET', '/v1/data-views', { key: 'KM' })
    },
  },
  {
    name: '403-forbidden-rights',
    // A private skill of another user would be a 404.
    emulator: {
      collections: {
        skills: [{ ...sampleRecords.skills?.[0], scope: 'builtin', creator_id: null, builtin_key: 'dig' }],
      },
    },
    make: (emulator) => send(emulator, 'POST', '/v1/skills/skill-1/promote', { key: 'KM' }),
  },
  {
    name: '403-forbidden-host',
    make: (emulator) => send(emulator, 'GET', '/v1/data-views', { headers: { host: 'elsewhere.example' } }),
  },
  {
    name: '403-mcp_oauth_requires_user_principal',
    make: (emulator) =>
      send(emulator, 'POST', '/v1/organization/mcp-servers/server-1/oauth-callback', { key: 'KS', json: {} }),
  },
  { name: '404-not_found', make: (emulator) => send(emulator, 'GET', `${BATCHES}/nothing`) },
  {
    name: '404-not_found-claim',
    make: (emulator) => send(emulator, 'POST', '/v1/agents/claim', { json: { claim_token: 'guess' } }),
  },
  { name: '404-route_not_found', make: (emulator) => send(emulator, 'GET', '/v1/batch-prediction?limit=1') },
  { name: '404-route_not_found-outside', make: (emulator) => send(emulator, 'GET', '/elsewhere') },
  { name: '405-method_not_allowed', make: (emulator) => send(emulator, 'PUT', '/v1/data-views') },
  {
    name: '408-request_timeout',
    // A real client would have to wait for the timeout of the server, in real seconds.
    make: ({ sandbox }) => {
      const nothing = { method: '', path: '', errorFormat: 'standard', chosenBy: 'default' } as const
      const refusal = new Refusal('request_timeout', { detail: 'The request did not arrive in time.' })
      const { headers } = respondUnrouted(sandbox, nothing, refusal)
      return headers.find(([name]) => name === 'X-Emulator-Request-Id')?.[1] ?? ''
    },
  },
  {
    name: '409-conflict',
    make: async (emulator) => {
      const id = await batch(emulator)
      emulator.advance('1h')
      return send(emulator, 'POST', `${BATCHES}/${id}/cancel`)
    },
  },
  {
    name: '409-results_not_ready',
    make: async (emulator) => send(emulator, 'GET', `${BATCHES}/${await batch(emulator)}/results`),
  },
  {
    name: '409-idempotency_key_reused',
    make: async (emulator) => {
      const headers = { 'idempotency-key': 'try-1' }
      await send(emulator, 'POST', BATCHES, { json: batchBody(1), headers })
      return send(emulator, 'POST', BATCHES, { json: batchBody(2), headers })
    },
  },
  {
    name: '410-results_gone',
    make: async (emulator) => send(emulator, 'GET', `${BATCHES}/${await afterMonth(emulator)}/results`),
  },
  {
    name: '413-payload_too_large',
    emulator: { settings: { 'http.body_limit': 100 } },
    make: (emulator) => send(emulator, 'POST', '/v1/pages', { json: { name: 'x'.repeat(101) } }),
  },
  {
    name: '415-unsupported_media_type',
    make: (emulator) =>
      send(emulator, 'POST', '/v1/pages', {
        raw: 'name=x',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      }),
  },
  {
    name: '417-expectation_failed',
    make: (emulator) => send(emulator, 'GET', '/v1/data-views', { headers: { expect: 'a miracle' } }),
  },
  {
    name: '429-rate_limit_exceeded-window',
    make: async (emulator) => {
      await fill(emulator, 'data-views.list', 0)
      return send(emulator, 'GET', '/v1/data-views')
    },
  },
  {
    name: '429-rate_limit_exceeded-admission',
    emulator: { collections: sampleRecords, settings: { 'limits.admission.concurrency': 1 } },
    make: async (emulator) => {
      await batch(emulator)
      return send(emulator, 'POST', BATCHES, { json: batchBody() })
    },
  },
  {
    name: '431-header_fields_too_large',
    make: (emulator) =>
      write(
        emulator,
        `GET /v1/data-views HTTP/1.1\r\nHost: localhost\r\nX-Long: ${'x'.repeat(20_000)}\r\n\r\n`,
      ),
  },
  {
    name: '500-internal_error',
    make: (emulator) => {
      withJournal(emulator, () => {
        throw new TypeError('a defect')
      })
      return send(emulator, 'POST', '/v1/pages', { json: { name: 'Plan' } })
    },
  },
  {
    name: '501-emulator_contract_unspecified-converse',
    make: (emulator) => send(emulator, 'POST', '/v1/converse', { json: {} }),
  },
  {
    name: '501-emulator_contract_unspecified-search',
    make: (emulator) => send(emulator, 'GET', '/v1/search?query=x'),
  },
  {
    name: '501-emulator_contract_unspecified-strict',
    emulator: { collections: sampleRecords, strict: true },
    make: (emulator) => send(emulator, 'GET', '/v1/agents'),
  },
  {
    name: '507-storage_unavailable',
    make: (emulator) => {
      withJournal(emulator, () => refuse('storage_unavailable', { detail: 'The disk is full.' }))
      return send(emulator, 'POST', '/v1/pages', { json: { name: 'Plan' } })
    },
  },
]
