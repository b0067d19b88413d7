import { connect } from 'node:net'
import { Refusal, refuse } from '../../src/kernel/errors.ts'
import { turnAway } from '../../src/kernel/request/perform.ts'
import { KEYS, type KeyName } from '../support/base-world.ts'
import { batchBody, MESSAGE, sampleCalls, sampleRecords } from '../support/sample-calls.ts'
import { type Said, send as sendRequest } from '../support/send.ts'
import { type TestWorld, type TestWorldOptions, testWorld } from '../support/world.ts'

/** One kind of request that can be explained: its name is that of its golden file. */
export interface Kind {
  readonly name: string
  readonly world?: TestWorldOptions
  /** Makes the request, and whatever has to happen before it. Returns its id. */
  readonly make: (world: TestWorld) => Promise<string> | string
}

/** The world of a kind. Defects are expected of one of them, so that none fails the test. */
export function worldOf({ world = {} }: Kind): Promise<TestWorld> {
  const logger = { info: () => {}, warn: () => {}, error: () => {} }
  return testWorld({ collections: sampleRecords, logger, ...world })
}

interface Request extends Omit<Said, 'authorization'> {
  readonly key?: KeyName | undefined
  /** Instead of a key; none is sent when it is empty. */
  readonly token?: string
}

/** Sends a request with these headers and no others of a client's own, and tells its id. */
async function send(world: TestWorld, method: string, path: string, request: Request = {}): Promise<string> {
  const { key = 'KU', token = KEYS[key], ...said } = request
  const authorization = token === '' ? undefined : `Bearer ${token}`
  const { headers } = await sendRequest(world, method, path, { ...said, authorization })
  return String(headers['x-emulator-request-id'])
}

/** Writes bytes as they are, and tells the id of the request that they were taken for. */
function write(world: TestWorld, bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ''
    const socket = connect(world.emulator.port, '127.0.0.1', () => socket.write(bytes))
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1')
    })
    socket.on('error', reject)
    socket.on('close', () => resolve(/^x-emulator-request-id: (.*)$/im.exec(text)?.[1]?.trim() ?? text))
  })
}

const BATCHES = '/v1/batch-predictions'

async function batch(world: TestWorld, items = 2): Promise<string> {
  return (await world.post('/batch-predictions', batchBody(items))).body.id
}

async function afterMonth(world: TestWorld): Promise<string> {
  const id = await batch(world)
  world.advance('30d')
  return id
}

async function fill(world: TestWorld, operation: string, remaining: number): Promise<void> {
  world.sandbox.limiter.fill(`ts-a ${operation}`, world.sandbox.limitOf(operation), world.now(), remaining)
}

/** A disk that does not take what is written. */
function withJournal(world: TestWorld, append: () => void): void {
  world.sandbox.store.journal = { append, durable: () => undefined }
}

/** Operations that never succeed, so that the refusals show them. */
const NEVER = ['converse.create', 'search.query']

/** A request of each operation that succeeds. */
export async function successKinds(operations: Iterable<string>): Promise<Kind[]> {
  const names = [...operations].filter((name) => !NEVER.includes(name))
  return names.map((name) => ({
    name: `ok-${name}`,
    make: async (world) => {
      const call = (await sampleCalls(world)).find((each) => each.name === name)
      if (call === undefined) throw new Error(`there is no sample call of ${name}`)
      return send(world, call.method, `/v1${call.path}`, { json: call.options.json })
    },
  }))
}

/** Requests that succeed in another way than the plain one. */
export const specialKinds: readonly Kind[] = [
  {
    name: 'ok-idempotency-first-use',
    make: (world) =>
      send(world, 'POST', BATCHES, { json: batchBody(), headers: { 'idempotency-key': 'try-1' } }),
  },
  {
    name: 'ok-idempotency-replay',
    make: async (world) => {
      const sent = { json: batchBody(), headers: { 'idempotency-key': 'try-1' } }
      await send(world, 'POST', BATCHES, sent)
      return send(world, 'POST', BATCHES, sent)
    },
  },
  {
    name: 'ok-poll-that-skips',
    world: { collections: sampleRecords, skipOnPoll: true },
    make: async (world) => send(world, 'GET', `${BATCHES}/${await batch(world)}`),
  },
  {
    name: 'ok-poll-that-ends-a-batch-and-leaves-a-webhook',
    world: {
      settings: {
        'batch.pace': { validating: 'immediate', in_progress: 'immediate', finalizing: { polls: 1 } },
        'webhooks.subscriptions': [{ url: 'http://127.0.0.1:9/hook' }],
      },
    },
    make: async (world) => send(world, 'GET', `${BATCHES}/${await batch(world)}`),
  },
  {
    name: 'ok-after-due-events',
    make: async (world) => {
      const id = await batch(world)
      // The clock runs, and the wall clock has gone on: what is due happens before the request is looked at.
      world.sandbox.clock.moveTo(world.now() + 3_600_000)
      return send(world, 'GET', `${BATCHES}/${id}`)
    },
  },
  {
    name: 'ok-limits-off',
    world: { limits: false },
    make: async (world) => {
      await fill(world, 'data-views.list', 0)
      return send(world, 'GET', '/v1/data-views')
    },
  },
  { name: 'ok-sandbox-by-path', make: (world) => send(world, 'GET', '/@w3/v1/data-views?limit=1') },
  {
    name: 'ok-sandbox-by-header',
    make: (world) => send(world, 'GET', '/v1/data-views', { headers: { 'x-emulator-sandbox': 'w3' } }),
  },
  {
    name: 'ok-sandbox-by-token',
    make: (world) => send(world, 'GET', '/v1/data-views', { token: `${KEYS.KU}@w3` }),
  },
  {
    name: 'ok-body-not-kept',
    make: (world) => send(world, 'POST', '/v1/pages', { json: { name: 'Plan', filler: 'x'.repeat(17_000) } }),
  },
]

/** A refusal of each code, and of each step that can raise it. */
export const refusalKinds: readonly Kind[] = [
  { name: '400-bad_request-percent', make: (world) => send(world, 'GET', '/v1/agents/%zz/automations') },
  {
    name: '400-bad_request-sandbox-name',
    make: (world) => send(world, 'GET', '/v1/data-views', { headers: { 'x-emulator-sandbox': 'No Name' } }),
  },
  { name: '400-bad_request-wire', make: (world) => write(world, 'NONSENSE\r\n\r\n') },
  {
    name: '400-validation_failed-body',
    make: (world) => send(world, 'POST', '/v1/pages', { json: { name: 5 } }),
  },
  {
    name: '400-validation_failed-query',
    make: (world) => send(world, 'GET', '/v1/data-views?limit=0&limit=1&offset=x'),
  },
  { name: '400-validation_failed-no-body', make: (world) => send(world, 'POST', '/v1/agents/claim') },
  {
    name: '400-validation_failed-idempotency-key',
    make: (world) =>
      send(world, 'POST', BATCHES, { json: batchBody(), headers: { 'idempotency-key': 'x'.repeat(256) } }),
  },
  {
    name: '400-validation_failed-secret',
    make: (world) =>
      send(world, 'POST', '/v1/organization/mcp-servers/server-1/oauth-callback', {
        json: { code: 'secret-code', state: 'secret-state', redirect_uri: 'https://app.example/callback' },
      }),
  },
  {
    name: '422-validation_failed-by-setting',
    world: { settings: { 'status.validation': 422 } },
    make: (world) => send(world, 'POST', '/v1/pages', { json: { name: 5 } }),
  },
  { name: '400-malformed_json', make: (world) => send(world, 'POST', '/v1/pages', { raw: '{"name": ' }) },
  {
    name: '400-malformed_message_id',
    make: (world) =>
      send(world, 'POST', '/v1/conversations/conversation-1/messages/not-a-uuid', {
        json: { like: 1 },
      }),
  },
  {
    name: '400-not_an_agent_message',
    world: {
      collections: {
        ...sampleRecords,
        messages: [{ id: MESSAGE, _emulator: { conversation_id: 'conversation-1', kind: 'user' } }],
      },
    },
    make: (world) =>
      send(world, 'POST', `/v1/conversations/conversation-1/messages/${MESSAGE}`, {
        json: { like: 1 },
      }),
  },
  {
    name: '400-root_conversation',
    world: {
      collections: { conversations: [{ id: 'root', _emulator: { teamspace_id: 'ts-a', root: true } }] },
    },
    make: (world) => send(world, 'DELETE', '/v1/conversations/root'),
  },
  { name: '401-unauthorized-no-key', make: (world) => send(world, 'GET', '/v1/data-views', { token: '' }) },
  {
    name: '401-unauthorized-unknown-key',
    make: (world) => send(world, 'GET', '/v1/data-views', { token: 'live_x' }),
  },
  {
    name: '403-forbidden-denied',
    make: async (world) => {
      const keys = world.state('api_keys')
      const denied = { ...keys.find(({ id }) => id === 'key-member'), denied: ['data-views.list'] }
      world.sandbox.change(({ tx }) => tx.put('api_keys', denied))
      return send(world, 'GET', '/v1/data-views', { key: 'KM' })
    },
  },
  {
    name: '403-forbidden-membership',
    make: (world) => {
      world.sandbox.change(({ tx }) => tx.delete('memberships', 'm-member'))
      return send(world, 'GET', '/v1/data-views', { key: 'KM' })
    },
  },
  {
    name: '403-forbidden-rights',
    make: (world) => send(world, 'POST', '/v1/skills/skill-1/promote', { key: 'KM' }),
  },
  {
    name: '403-forbidden-host',
    make: (world) => send(world, 'GET', '/v1/data-views', { headers: { host: 'elsewhere.example' } }),
  },
  {
    name: '403-mcp_oauth_requires_user_principal',
    make: (world) =>
      send(world, 'POST', '/v1/organization/mcp-servers/server-1/oauth-callback', { key: 'KS', json: {} }),
  },
  { name: '404-not_found', make: (world) => send(world, 'GET', `${BATCHES}/nothing`) },
  {
    name: '404-not_found-claim',
    make: (world) => send(world, 'POST', '/v1/agents/claim', { json: { claim_token: 'guess' } }),
  },
  { name: '404-route_not_found', make: (world) => send(world, 'GET', '/v1/batch-prediction?limit=1') },
  { name: '404-route_not_found-outside', make: (world) => send(world, 'GET', '/elsewhere') },
  { name: '405-method_not_allowed', make: (world) => send(world, 'PUT', '/v1/data-views') },
  {
    name: '408-request_timeout',
    // A client would have to be slower than the server's patience, in real seconds.
    make: ({ sandbox }) => {
      const nothing = { method: '', path: '', dialect: 'standard', chosenBy: 'default' } as const
      const refusal = new Refusal('request_timeout', { detail: 'The request did not arrive in time.' })
      const { headers } = turnAway(sandbox, nothing, refusal)
      return headers.find(([name]) => name === 'X-Emulator-Request-Id')?.[1] ?? ''
    },
  },
  {
    name: '409-conflict',
    make: async (world) => {
      const id = await batch(world)
      world.advance('1h')
      return send(world, 'POST', `${BATCHES}/${id}/cancel`)
    },
  },
  {
    name: '409-results_not_ready',
    make: async (world) => send(world, 'GET', `${BATCHES}/${await batch(world)}/results`),
  },
  {
    name: '409-idempotency_key_reused',
    make: async (world) => {
      const headers = { 'idempotency-key': 'try-1' }
      await send(world, 'POST', BATCHES, { json: batchBody(1), headers })
      return send(world, 'POST', BATCHES, { json: batchBody(2), headers })
    },
  },
  {
    name: '410-results_gone',
    make: async (world) => send(world, 'GET', `${BATCHES}/${await afterMonth(world)}/results`),
  },
  {
    name: '413-payload_too_large',
    world: { settings: { 'http.body_limit': 100 } },
    make: (world) => send(world, 'POST', '/v1/pages', { json: { name: 'x'.repeat(101) } }),
  },
  {
    name: '415-unsupported_media_type',
    make: (world) =>
      send(world, 'POST', '/v1/pages', {
        raw: 'name=x',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      }),
  },
  {
    name: '417-expectation_failed',
    make: (world) => send(world, 'GET', '/v1/data-views', { headers: { expect: 'a miracle' } }),
  },
  {
    name: '429-rate_limit_exceeded-window',
    make: async (world) => {
      await fill(world, 'data-views.list', 0)
      return send(world, 'GET', '/v1/data-views')
    },
  },
  {
    name: '429-rate_limit_exceeded-admission',
    world: { collections: sampleRecords, settings: { 'limits.admission.concurrency': 1 } },
    make: async (world) => {
      await batch(world)
      return send(world, 'POST', BATCHES, { json: batchBody() })
    },
  },
  {
    name: '431-header_fields_too_large',
    make: (world) =>
      write(world, `GET /v1/data-views HTTP/1.1\r\nHost: localhost\r\nX-Long: ${'x'.repeat(20_000)}\r\n\r\n`),
  },
  {
    name: '500-internal_error',
    make: (world) => {
      withJournal(world, () => {
        throw new TypeError('a defect')
      })
      return send(world, 'POST', '/v1/pages', { json: { name: 'Plan' } })
    },
  },
  {
    name: '501-emulator_contract_unspecified-converse',
    make: (world) => send(world, 'POST', '/v1/converse', { json: {} }),
  },
  {
    name: '501-emulator_contract_unspecified-search',
    make: (world) => send(world, 'GET', '/v1/search?query=x'),
  },
  {
    name: '501-emulator_contract_unspecified-strict',
    world: { collections: sampleRecords, strict: true },
    make: (world) => send(world, 'GET', '/v1/agents'),
  },
  {
    name: '507-storage_unavailable',
    make: (world) => {
      withJournal(world, () => refuse('storage_unavailable', { detail: 'The disk is full.' }))
      return send(world, 'POST', '/v1/pages', { json: { name: 'Plan' } })
    },
  },
]
