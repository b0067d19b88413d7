import { request } from 'node:http'
import type { InternalOptions } from '../../../src/emulator/emulator.ts'
import { baseCollections } from '../../support/base-state.ts'

/** Secrets, each with a name that is found wherever it occurs. */
export const CANARY = {
  key: 'live_canary-api-key',
  unknownKey: 'live_canary-unknown-key',
  newKey: 'live_canary-new-key',
  claim: 'canary-claim-token',
  code: 'canary-oauth-code',
  state: 'canary-oauth-state',
  control: 'canary-control-token',
  webhook: 'canary-webhook-secret',
  signature: 'canary-signature-secret',
} as const
const FOUND = /canary-[a-z]+-[a-z]+/g
/** The secrets that sign webhooks. A digest cannot sign, so state files contain them in plain text. */
export const SIGNING: ReadonlySet<string> = new Set([CANARY.webhook, CANARY.signature])

const JANUARY = '2026-01-01T00:00:00.000Z'
const redirect_uri = 'https://app.example/cb'
const TEMPLATE = {
  title: 'T',
  description: 'D',
  emoji: 'E',
  category: 'C',
  connectors: [],
  prompt_examples: ['a', 'b'],
  is_curated_template: false,
  config: { prompt: 'p', custom_prompt: '', tools: [] },
}
const SERVER = {
  object: 'mcp_server',
  id: 's1',
  name: 'Server',
  icon_url: 'https://mcp.example/icon.svg',
  base_url: 'https://mcp.example',
  transport: 'http',
  protocol_version: '7',
  authorization_secret_id: 'ref-1',
  status: 'active',
  metadata: { requires_oauth: true, oauth_configured: false, tool_count: 3, last_synced_at: 'never' },
  created_at: JANUARY,
  updated_at: JANUARY,
  managed_by_app: { app_uuid: 'app-1', app_name: 'Registry' },
  _emulator: { teamspace_id: 'ts-a' },
}

const [owner, ...keys] = baseCollections.api_keys as readonly { token: string }[]

/** A sandbox with every secret in its place. */
export const guarded: InternalOptions = {
  controlToken: CANARY.control,
  settings: {
    'webhooks.signature': { header: 'X-Signature', secret: CANARY.signature },
    'webhooks.subscriptions': [{ url: 'http://127.0.0.1:9/fixed', secret: CANARY.webhook }],
  },
  fixtures: {
    collections: {
      ...baseCollections,
      api_keys: [{ ...owner, token: CANARY.key }, ...keys],
      webhooks: [{ id: 'hook', url: 'http://127.0.0.1:9/', secret: CANARY.webhook, created_at: JANUARY }],
      agent_templates: [{ id: 't1', claim_token: CANARY.claim, ...TEMPLATE, _emulator: {} }],
      mcp_servers: [SERVER],
      oauth_flows: [
        {
          id: 'f1',
          server_id: 's1',
          state: CANARY.state,
          code: CANARY.code,
          redirect_uri,
          created_at: JANUARY,
        },
      ],
    },
  } as never,
}

export interface Sending {
  readonly headers?: Readonly<Record<string, string>>
  readonly json?: unknown
  readonly raw?: string
  /** Reads a stream to its end, which is when the emulator closes. */
  readonly follows?: boolean
}

/** The whole response with its head; of a stream only the start. */
export function send(
  port: number,
  method: string,
  path: string,
  { headers = {}, json, raw, follows = false }: Sending = {},
): Promise<string> {
  const body = raw ?? (json === undefined ? undefined : JSON.stringify(json))
  const type =
    body === undefined
      ? {}
      : { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)) }
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port, method, path, headers: { ...type, ...headers }, agent: false }
    const req = request(options, (res) => {
      let text = `${res.statusCode} ${JSON.stringify(res.headers)}\n`
      res.setEncoding('utf8')
      res.on('data', (chunk) => {
        text += chunk
        if (!follows && text.includes('event: hello')) {
          resolve(text)
          req.destroy()
        }
      })
      res.on('end', () => resolve(text))
    })
    req.on('error', reject)
    req.end(body)
  })
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
const CALLBACK = '/v1/organization/mcp-servers/s1/oauth-callback'
const proof = { code: CANARY.code, state: CANARY.state, redirect_uri }

/** Requests with secrets in correct and in wrong places, valid and invalid. */
export const REQUESTS: readonly [method: string, path: string, sending: Sending][] = [
  ['GET', '/v1/teamspaces/users', { headers: bearer(CANARY.key) }],
  ['GET', '/v1/teamspaces/users', { headers: bearer(CANARY.unknownKey) }],
  ['GET', '/v1/teamspaces/users', { headers: bearer(CANARY.control) }],
  ['GET', '/v1/teamspaces/users', { headers: bearer(`${CANARY.key}@w1`) }],
  ['GET', '/v1/teamspaces/users', { headers: bearer(`${CANARY.key}@Not_A_Name`) }],
  ['GET', '/v1/teamspaces/users', { headers: bearer(`${CANARY.key}, Bearer ${CANARY.key}`) }],
  ['GET', '/v1/teamspaces/users', { headers: { authorization: CANARY.key } }],
  ['GET', '/v1/teamspaces/users', { headers: { authorization: `Basic ${CANARY.key}` } }],
  ['GET', '/v1/teamspaces/users', { headers: { 'x-api-key': CANARY.key, cookie: `key=${CANARY.key}` } }],
  ['GET', '/v1/teamspaces/users', { headers: { 'x-control-token': CANARY.control } }],
  ['GET', '/v1/teamspaces/users', { headers: { 'x-emulator-sandbox': CANARY.key } }],
  ['GET', '/v1/teamspaces/users', { headers: { 'proxy-authorization': `Bearer ${CANARY.key}` } }],
  [
    'GET',
    `/v1/teamspaces/users?api_key=${CANARY.key}&access_token=${CANARY.key}`,
    { headers: bearer(CANARY.key) },
  ],
  ['GET', `/v1/nowhere?code=${CANARY.code}&state=${CANARY.state}`, { headers: bearer(CANARY.key) }],
  ['POST', '/v1/agents/claim', { headers: bearer(CANARY.key), json: { claim_token: CANARY.claim } }],
  ['POST', '/v1/agents/claim', { headers: bearer(CANARY.key), json: { claim_token: CANARY.claim } }],
  ['POST', '/v1/agents/claim', { headers: bearer(CANARY.key), json: { claim_token: { is: CANARY.claim } } }],
  ['POST', '/v1/agents/claim', { headers: bearer(CANARY.key), json: [CANARY.claim] }],
  ['POST', '/v1/agents/claim', { headers: bearer(CANARY.key), json: CANARY.claim }],
  ['POST', '/v1/agents/claim', { headers: bearer(CANARY.key), raw: `{"claim_token":"${CANARY.claim}"` }],
  ['POST', '/v1/agents/claim', { headers: bearer(CANARY.key), raw: `{"claim_token":${CANARY.claim}}` }],
  ['POST', `/v1/agents/claim?claim_token=${CANARY.claim}`, { headers: bearer(CANARY.key), json: {} }],
  ['POST', CALLBACK, { headers: bearer(CANARY.key), json: { ...proof, code: `${CANARY.code}x` } }],
  [
    'POST',
    CALLBACK,
    { headers: bearer(CANARY.key), json: { ...proof, redirect_uri: 'https://app.example/other' } },
  ],
  ['POST', CALLBACK, { headers: bearer(CANARY.key), json: proof }],
  ['POST', CALLBACK, { headers: bearer(CANARY.key), json: proof }],
  [
    'POST',
    `${CALLBACK}?code=${CANARY.code}&state=${CANARY.state}`,
    { headers: bearer(CANARY.key), json: {} },
  ],
  ['GET', `/__emulator/clock?token=${CANARY.control}`, {}],
  ['GET', '/__emulator/clock', { headers: bearer(`${CANARY.control}x`) }],
  ['GET', '/__emulator/clock', { headers: bearer(CANARY.key) }],
]

export const controlled = { headers: bearer(CANARY.control) }
const person = { kind: 'user', user_id: 'user-owner', organization_id: 'org-1', teamspace_id: 'ts-a' }

/** Calls of the control interface that write a secret, valid and invalid. */
export const WRITES: readonly [method: string, path: string, json: unknown][] = [
  ['POST', '/webhooks', { url: 'http://127.0.0.1:9/', secret: CANARY.webhook }],
  ['POST', '/webhooks', { url: 'http://127.0.0.1:9/', secret: [CANARY.webhook] }],
  ['POST', '/webhooks', { url: `http://user:${CANARY.webhook}@127.0.0.1:9/` }],
  ['POST', '/webhooks', { url: 'nowhere', secret: CANARY.webhook }],
  ['PUT', '/state/webhooks/new', { url: 'http://127.0.0.1:9/', secret: CANARY.webhook }],
  ['PUT', '/state/webhooks/bad', { url: 'nowhere', secret: CANARY.webhook }],
  ['PATCH', '/state/webhooks/hook', { secret: CANARY.webhook }],
  ['PUT', '/state/api_keys/new', { ...person, token: CANARY.newKey }],
  ['PUT', '/state/api_keys/bad', { ...person, kind: CANARY.newKey.length, token: CANARY.newKey }],
  ['PUT', '/state/api_keys/bad', { ...person, token: { is: CANARY.newKey } }],
  ['PUT', '/state/api_keys/again', { ...person, token: CANARY.key }],
  ['PATCH', '/state/api_keys/new', { token: CANARY.newKey }],
  ['PUT', '/state/agent_templates/t2', { claim_token: CANARY.claim, ...TEMPLATE, _emulator: {} }],
  [
    'PUT',
    '/state/oauth_flows/f2',
    { server_id: 'none', state: CANARY.state, code: CANARY.code, redirect_uri },
  ],
  ['POST', '/fixtures', { collections: { api_keys: [{ id: 'x', token: CANARY.newKey }] } }],
  ['POST', '/sandboxes', { name: 'w2', fixtures: { collections: { api_keys: [{ token: CANARY.newKey }] } } }],
  ['PATCH', '/settings', { 'webhooks.signature': { header: 'no header', secret: CANARY.signature } }],
  ['PATCH', '/settings', { 'webhooks.signature': { header: 'X-Signature', secret: CANARY.signature } }],
  [
    'POST',
    '/faults',
    { match: { headers: { authorization: 'Bearer other' } }, do: [{ respond: { status: 500 } }] },
  ],
  ['POST', '/requests/verify', { match: { headers: { authorization: 'Bearer other' } } }],
]

/** The secrets in a text, except the allowed ones. */
export function leaks(text: string, allowed: ReadonlySet<string> = new Set()): string[] {
  return [...new Set(text.match(FOUND) ?? [])].filter((each) => !allowed.has(each))
}
