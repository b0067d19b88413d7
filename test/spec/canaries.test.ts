import { readdirSync, readFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { controlRoutes } from '../../src/doors/control/routes/index.ts'
import { startEmulator } from '../../src/emulator.ts'
import { workspaceService } from '../../src/resources/index.ts'
import { command } from '../cli/in-process.ts'
import { baseCollections } from '../support/base-world.ts'
import { dataFolder } from '../support/data-folder.ts'

/** Secrets, each found by its name wherever it shows. */
const CANARY = {
  key: 'live_canary-api-key',
  unknownKey: 'live_canary-unknown-key',
  claim: 'canary-claim-token',
  code: 'canary-oauth-code',
  state: 'canary-oauth-state',
  control: 'canary-control-token',
  webhook: 'canary-webhook-secret',
  signature: 'canary-signature-secret',
} as const
const FOUND = /canary-[a-z]+-[a-z]+/g
/** The secrets that sign webhooks, which nobody could sign with otherwise. */
const SIGNING: ReadonlySet<string> = new Set([CANARY.webhook, CANARY.signature])

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

async function guardedWorld() {
  const data = dataFolder()
  const logged: string[] = []
  const note = (...said: unknown[]) => void logged.push(inspect(said, { depth: 20 }))
  const [owner, ...keys] = baseCollections.api_keys as readonly { token: string }[]
  const emulator = await startEmulator({
    port: 0,
    data,
    rate: 0,
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
    logger: { info: note, warn: note, error: note },
  })
  onTestFinished(() => emulator.close())
  return { emulator, data, logged }
}

interface Sending {
  readonly headers?: Readonly<Record<string, string>>
  readonly json?: unknown
  readonly raw?: string
  /** Reads a feed to its end, which is when the emulator closes. */
  readonly follows?: boolean
}

/** Everything that comes back, heads included; of a feed its beginning. */
function send(
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

/** Secrets in their places and in wrong ones, valid and not. */
const REQUESTS: readonly [method: string, path: string, sending: Sending][] = [
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

const controlled = { headers: bearer(CANARY.control) }

/** The secrets in a text, those that may be there left out. */
function leaks(text: string, allowed: ReadonlySet<string> = new Set()): string[] {
  return [...new Set(text.match(FOUND) ?? [])].filter((each) => !allowed.has(each))
}

test('X6 no secret shows in an answer, in what the control interface tells, in logs, or on the disk', async () => {
  const { emulator, data, logged } = await guardedWorld()
  const { port } = emulator
  const found: [where: string, secrets: string[]][] = []
  const look = (where: string, text: string, allowed?: ReadonlySet<string>) => {
    const secrets = leaks(text, allowed)
    if (secrets.length > 0) found.push([where, secrets])
  }
  const feed = send(port, 'GET', '/__emulator/events', { ...controlled, follows: true })
  for (const [n, [method, path, sending]] of REQUESTS.entries()) {
    look(`answer ${n} to ${method} ${path}`, await send(port, method, path, sending))
  }
  expect(emulator.sandbox.log.size).toBeGreaterThan(20)
  await send(port, 'POST', '/__emulator/snapshots', { ...controlled, json: { name: 'base' } })
  const prefixes = ['', '/@w1']
  const ids = emulator.sandboxes.list().flatMap(({ sandbox }) => sandbox.log.entries().map(({ id }) => id))
  const collections = [...workspaceService.collections.keys()]
  for (const { method, path } of controlRoutes(workspaceService)) {
    if (method !== 'GET') continue
    const targets = expand(String(path), {
      request_id: ids,
      collection: collections,
      name: ['base', 'default'],
    })
    for (const prefix of prefixes) {
      for (const target of targets) {
        const text = await send(port, 'GET', `${prefix}/__emulator${target}`, controlled)
        const isState = /^\/(state|snapshots)\b/.test(target)
        look(`${prefix}${target}`, text, isState ? SIGNING : undefined)
      }
    }
  }
  const settings = { ...controlled, json: { unknown_fields: 'reject' } }
  look('PATCH /settings', await send(port, 'PATCH', '/__emulator/settings', settings))
  for (const argv of [
    ['requests'],
    ['explain', ids[0] ?? ''],
    ['status'],
    ['sandbox', 'list'],
    ['snapshot', 'list'],
  ]) {
    const where = ['--url', `http://127.0.0.1:${port}`, '--control-token', CANARY.control]
    const { code, out, err } = await command([...argv, ...where, '--json'])
    expect([argv, code, err]).toEqual([argv, 0, ''])
    look(`command ${argv.join(' ')}`, out + err)
  }
  await emulator.close()
  const told = await feed
  expect(told).toContain('event: request')
  look('the feed', told)
  look('the logger', logged.join('\n'))
  for (const file of readdirSync(data, { recursive: true, withFileTypes: true })) {
    if (!file.isFile()) continue
    look(`file ${file.name}`, readFileSync(join(file.parentPath, file.name), 'utf8'), SIGNING)
  }
  expect(found).toEqual([])
})

function expand(path: string, values: Readonly<Record<string, readonly string[]>>): string[] {
  const [, name] = /\{(\w+)\}/.exec(path) ?? []
  if (name === undefined) return [path]
  return (values[name] ?? ['x']).flatMap((value) => expand(path.replace(`{${name}}`, value), values))
}

test('the search finds a secret where there is one', () => {
  expect(leaks(`key ${CANARY.key}`)).toEqual(['canary-api-key'])
  expect(leaks(CANARY.webhook, SIGNING)).toEqual([])
})
