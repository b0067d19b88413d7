import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { InternalOptions, RunningEmulator } from '../../../src/emulator/emulator.ts'
import { workspaceService } from '../../../src/emulator/service.ts'
import { controlRoutes } from '../../../src/server/control/routes/index.ts'
import { baseCollections } from '../../support/base-state.ts'
import { sampleRecords } from '../../support/sample-calls.ts'
import { type Said, send } from '../../support/send.ts'
import { atLeast, type Figure, none, type Proof, tried } from '../proof.ts'
import { against, withFolder } from './emulator.ts'

/** Secrets, each with a name that is found wherever it occurs. */
const CANARY = {
  key: 'live_canary-api-key',
  newKey: 'live_canary-new-key',
  claim: 'canary-claim-token',
  code: 'canary-oauth-code',
  state: 'canary-oauth-state',
  control: 'canary-control-token',
  webhook: 'canary-webhook-secret',
  signature: 'canary-signature-secret',
} as const

// A digest cannot sign, so state files contain the secrets that sign webhooks in plain text.
const SIGNING: readonly string[] = [CANARY.webhook, CANARY.signature]

const JANUARY = '2026-01-01T00:00:00.000Z'
const HOOK = 'http://127.0.0.1:9/'
const { agent_templates: [TEMPLATE] = [], mcp_servers = [] } = sampleRecords
const PROOF = { code: CANARY.code, state: CANARY.state, redirect_uri: 'https://app.example/cb' }

const [owner, ...keys] = baseCollections.api_keys as readonly { token: string }[]

const GUARDED: InternalOptions = {
  controlToken: CANARY.control,
  settings: {
    'webhooks.signature': { header: 'X-Signature', secret: CANARY.signature },
    'webhooks.subscriptions': [{ url: `${HOOK}fixed`, secret: CANARY.webhook }],
  },
  fixtures: {
    collections: {
      ...baseCollections,
      api_keys: [{ ...owner, token: CANARY.key }, ...keys],
      webhooks: [{ id: 'hook', url: HOOK, secret: CANARY.webhook, created_at: JANUARY }],
      agent_templates: [{ ...TEMPLATE, claim_token: CANARY.claim }],
      mcp_servers,
      oauth_flows: [{ id: 'f1', server_id: 'server-1', ...PROOF, created_at: JANUARY }],
    },
  } as never,
}

type Call = readonly [method: string, path: string, said: Said]

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
const owning = bearer(CANARY.key)
const claim = (said: Said): Call => ['POST', '/v1/agents/claim', { ...owning, ...said }]
const callback = (said: Said, query = ''): Call => [
  'POST',
  `/v1/organization/mcp-servers/server-1/oauth-callback${query}`,
  { ...owning, ...said },
]
const list = (said: Said, query = ''): Call => ['GET', `/v1/teamspaces/users${query}`, said]

/** Requests with secrets in correct and in wrong places, valid and invalid. Other places are in test/record/secrets.test.ts. */
const REQUESTS: readonly Call[] = [
  list(owning),
  list(bearer(CANARY.control)),
  list(bearer(`${CANARY.key}@w1`)),
  list(bearer(`${CANARY.key}@Not_A_Name`)),
  list(bearer(`${CANARY.key}, Bearer ${CANARY.key}`)),
  list({ authorization: CANARY.key }),
  list({ authorization: `Basic ${CANARY.key}` }),
  list({ headers: { 'x-emulator-sandbox': CANARY.key } }),
  list(owning, `?api_key=${CANARY.key}`),
  claim({ json: { claim_token: CANARY.claim } }),
  claim({ json: { claim_token: CANARY.claim } }),
  claim({ json: { claim_token: { is: CANARY.claim } } }),
  claim({ json: [CANARY.claim] }),
  claim({ raw: `{"claim_token":"${CANARY.claim}"` }),
  claim({ raw: `{"claim_token":${CANARY.claim}}` }),
  callback({ json: { ...PROOF, code: `${CANARY.code}x` } }),
  callback({ json: { ...PROOF, redirect_uri: 'https://app.example/other' } }),
  callback({ json: PROOF }),
  callback({ json: PROOF }),
  callback({ json: {} }, `?code=${CANARY.code}&state=${CANARY.state}`),
  ['GET', `/__emulator/clock?token=${CANARY.control}`, {}],
  ['GET', '/__emulator/clock', bearer(`${CANARY.control}x`)],
  ['GET', '/__emulator/clock', owning],
]

const PERSON = { kind: 'user', user_id: 'user-owner', organization_id: 'org-1', teamspace_id: 'ts-a' }

/** Calls of the control interface that write a secret, valid and invalid. */
const WRITES: readonly (readonly [method: string, path: string, json: unknown])[] = [
  ['POST', '/webhooks', { url: HOOK, secret: CANARY.webhook }],
  ['POST', '/webhooks', { url: HOOK, secret: [CANARY.webhook] }],
  ['POST', '/webhooks', { url: `http://user:${CANARY.webhook}@127.0.0.1:9/` }],
  ['PUT', '/state/webhooks/bad', { url: 'nowhere', secret: CANARY.webhook }],
  ['PATCH', '/state/webhooks/hook', { secret: CANARY.webhook }],
  ['PUT', '/state/api_keys/new', { ...PERSON, token: CANARY.newKey }],
  ['PUT', '/state/api_keys/bad', { ...PERSON, token: { is: CANARY.newKey } }],
  ['PUT', '/state/api_keys/again', { ...PERSON, token: CANARY.key }],
  ['PATCH', '/state/api_keys/new', { token: CANARY.newKey }],
  ['PUT', '/state/agent_templates/t2', { ...TEMPLATE, id: 't2', claim_token: CANARY.claim }],
  ['PUT', '/state/oauth_flows/f2', { server_id: 'none', ...PROOF }],
  ['POST', '/fixtures', { collections: { api_keys: [{ id: 'x', token: CANARY.newKey }] } }],
  ['POST', '/sandboxes', { name: 'w2', fixtures: { collections: { api_keys: [{ token: CANARY.newKey }] } } }],
  ['PATCH', '/settings', { 'webhooks.signature': { header: 'no header', secret: CANARY.signature } }],
  ['PATCH', '/settings', { 'webhooks.signature': { header: 'X-Signature', secret: CANARY.signature } }],
  ['POST', '/snapshots', { name: 'base' }],
]

export function leaks(text: string, allowed: readonly string[] = []): string[] {
  return [...new Set(text.match(/canary-[a-z]+-[a-z]+/g) ?? [])].filter((each) => !allowed.includes(each))
}

/** The paths of everything that the control interface shows of two sandboxes. */
function readable({ sandboxes }: RunningEmulator): string[] {
  const names: Readonly<Record<string, readonly string[]>> = {
    request_id: sandboxes.list().flatMap(({ sandbox }) => sandbox.log.entries().map(({ id }) => id)),
    collection: [...workspaceService.collections.keys()],
    name: ['base', 'default'],
  }
  const paths = controlRoutes(workspaceService).flatMap(({ method, path }) => {
    const [whole, name = ''] = /\{(\w+)\}/.exec(String(path)) ?? []
    if (method !== 'GET' || path === '/events') return []
    return whole === undefined ? [path] : (names[name] ?? ['x']).map((each) => path.replace(whole, each))
  })
  return ['', '/@w1'].flatMap((prefix) => paths.map((path) => `${prefix}/__emulator${path}`))
}

async function run(): Promise<readonly Figure[]> {
  const found: string[] = []
  const look = (where: string, text: string, allowed?: readonly string[]) =>
    void found.push(...leaks(text, allowed).map((secret) => `${secret} in ${where}`))
  let responses = 0
  const open = await withFolder(async (data) => {
    await against({ ...GUARDED, data }, async ({ emulator }) => {
      const answer = async ([method, path, said]: Call) => {
        const { text, headers } = await send({ emulator }, method, path, {
          authorization: undefined,
          ...said,
        })
        look(`${method} ${path}`, text + JSON.stringify(headers))
        responses += 1
      }
      const controlled = bearer(CANARY.control)
      for (const request of REQUESTS) await answer(request)
      for (const [method, path, json] of WRITES)
        await answer([method, `/__emulator${path}`, { ...controlled, json }])
      for (const path of readable(emulator)) await answer(['GET', path, controlled])
    })
    const entries = readdirSync(data, { recursive: true, withFileTypes: true })
    for (const { name, parentPath } of entries.filter((each) => each.isFile()))
      look(`file ${name}`, readFileSync(join(parentPath, name), 'utf8'), SIGNING)
    return entries.filter(({ name, parentPath }) => (statSync(join(parentPath, name)).mode & 0o077) !== 0)
  })
  return [
    tried('requests and writes with secrets', REQUESTS.length + WRITES.length),
    atLeast('responses read', responses, 100),
    none('files that others can read', open.length),
    none(`secrets shown${found.length === 0 ? '' : `: ${found[0]}`}`, found.length),
  ]
}

export const x6: Proof = {
  id: 'X6',
  promise:
    'No secret is in a response, in the control interface or on the disk; secrets that sign webhooks are only in the state files.',
  run,
}
