import * as z from 'zod'
import { setting } from '../../kernel/assumptions.ts'
import { refuseInvalid } from '../../kernel/errors.ts'
import { nonEmptyText, text, timestamp } from '../../kernel/fields.ts'
import type { Issue } from '../../kernel/json.ts'
import { successCreate } from '../../kernel/open-items.ts'
import { type Control, operation, type Request } from '../../kernel/operation.ts'
import type { Caller } from '../../kernel/request/auth.ts'
import { seal } from '../../kernel/secrets.ts'
import { collection } from '../../kernel/state/collection.ts'
import { presentedSecret } from '../presented-secret.ts'
import { requireVisible } from '../visible.ts'
import { redirectProblem, redirectUri } from './redirect-uri.ts'
import { type McpServer, mcpServers } from './servers.ts'

/** Permission without which the tools of a server are not synced. Specification: Authentication. */
const EDIT_ORGANIZATION = 'organization:edit'

const flowRecord = () =>
  z.strictObject({
    id: nonEmptyText(),
    server_id: z.string(),
    state: text(512),
    /** The code that the provider gives out; null: any code is taken. */
    code: text(4096).nullable().default(null),
    redirect_uri: redirectUri(),
    created_at: timestamp(),
    used_at: timestamp().nullable().default(null),
  })

type OAuthFlow = z.output<ReturnType<typeof flowRecord>>

/** Flows that start-oauth would have begun. */
export const oauthFlows = collection<OAuthFlow>({
  name: 'oauth_flows',
  label: 'OAuth flow',
  secrets: ['state', 'code'],
  schema: flowRecord,
})

export const stateReuse = setting<'reject' | 'accept'>({
  key: 'mcp.oauth.state_reuse',
  item: 'U032',
  says: 'A state that has already completed a flow: refused, or accepted again.',
  schema: () => z.enum(['reject', 'accept']),
  default: 'reject',
})

export const configuredAfter = setting<'set' | 'keep'>({
  key: 'mcp.oauth_configured',
  item: 'T37',
  says: 'Whether a completed flow sets metadata.oauth_configured of its server.',
  schema: () => z.enum(['set', 'keep']),
  default: 'set',
})

export const callbackMessage = setting<string | null>({
  key: 'mcp.oauth.message',
  item: 'U065',
  says: 'The message of every OAuth callback result; null for a sentence about its outcome.',
  schema: () => nonEmptyText().nullable(),
  default: null,
})

/** Why the tools of a server were synced, or not. */
type Sync = 'synced' | 'not_permitted' | 'failed'

const sentences: Readonly<Record<Sync, string>> = {
  synced: 'The server is authorized and its tools are synced.',
  not_permitted:
    'The server is authorized. Its tools are not synced, because the caller may not edit the organization.',
  failed: 'The server is authorized. Its tools are not synced, because reading them failed.',
}

export const completeFlow = operation({
  name: 'mcp-servers.oauth-callback',
  method: 'POST',
  path: '/organization/mcp-servers/{server_id}/oauth-callback',
  summary: 'Complete the OAuth flow of an MCP server',
  section: 'Complete MCP OAuth flow',
  dialect: 'standard',
  contract: true,
  beta: true,
  secrets: ['code', 'state'],
  principal: { kind: 'user', code: 'mcp_oauth_requires_user_principal' },
  success: successCreate,
  answer: () =>
    z.strictObject({
      object: z.literal('mcp_oauth_callback'),
      oauth_configured: z.literal(true),
      tools_synced: z.boolean(),
      message: nonEmptyText(),
    }),
  input: ({ object }) => ({
    body: object({ code: text(4096), state: text(512), redirect_uri: text(2048) }),
  }),
  find: ({ tx, caller, params }) =>
    requireVisible(tx, mcpServers, params.server_id, ({ _emulator }) => {
      return _emulator.teamspace_id === caller.teamspace_id
    }),
  handle: ({ tx, body, caller, target: server, at, assume, note }) => {
    const flow = provenFlow(body, { tx, target: server, assume, note })
    tx.in(oauthFlows).put({ ...flow, used_at: at })
    const sync = syncOf(server, caller)
    tx.in(mcpServers).put(afterExchange(server, sync, assume(configuredAfter) === 'set', at))
    const tools_synced = sync === 'synced'
    const message = assume(callbackMessage) ?? sentences[sync]
    return { body: { object: 'mcp_oauth_callback', oauth_configured: true, tools_synced, message } }
  },
})

interface Proof {
  readonly code: string
  readonly state: string
  readonly redirect_uri: string
}

type Check = Pick<Request<object, McpServer>, 'tx' | 'target' | 'assume' | 'note'>

// The flow that code, state and redirect URI prove. Nothing is consumed when one of them does not fit.
function provenFlow(given: Proof, { tx, target: server, assume, note }: Check): OAuthFlow {
  const redirect = redirectProblem(given.redirect_uri)
  if (redirect?.loopback) note('T30')
  if (redirect !== undefined) refuseInvalid([{ pointer: '/redirect_uri', detail: redirect.detail }])
  const state = presentedSecret(given.state)
  const flow = tx.in(oauthFlows).find((each) => each.server_id === server.id && each.state === state)
  const reused = flow !== undefined && flow.used_at !== null && assume(stateReuse) === 'reject'
  const issues = flow === undefined ? [UNKNOWN_STATE] : reused ? [USED_STATE] : mismatches(given, flow)
  if (issues.length > 0) note('U033')
  refuseInvalid(issues)
  return flow as OAuthFlow // without a flow there was an issue
}

const UNKNOWN_STATE: Issue = {
  pointer: '/state',
  detail: 'is not the state of a flow that was started for this server',
}

const USED_STATE: Issue = {
  pointer: '/state',
  detail: 'has already completed its flow; start another one',
}

function mismatches({ code, redirect_uri }: Proof, flow: OAuthFlow): Issue[] {
  const issues: Issue[] = []
  if (flow.code !== null && flow.code !== presentedSecret(code)) {
    issues.push({ pointer: '/code', detail: 'is not the code that the provider gave out for this flow' })
  }
  if (flow.redirect_uri !== redirect_uri) {
    issues.push({
      pointer: '/redirect_uri',
      detail: 'is not the redirect_uri that the flow was started with',
    })
  }
  return issues
}

function syncOf({ _emulator }: McpServer, { permissions }: Caller): Sync {
  if (!permissions.includes(EDIT_ORGANIZATION)) return 'not_permitted'
  return _emulator.sync === 'ok' ? 'synced' : 'failed'
}

function afterExchange(server: McpServer, sync: Sync, configured: boolean, at: string): McpServer {
  const { tools } = server._emulator
  const found = sync === 'synced' && tools !== undefined
  const metadata = {
    ...server.metadata,
    ...(configured ? { oauth_configured: true } : {}),
    ...(found ? { tool_count: tools.length, last_synced_at: at } : {}),
  }
  if (!configured && !found) return server
  // A fixture may put the creation after now; an update is still not before it.
  const updated_at = Date.parse(server.created_at) > Date.parse(at) ? server.created_at : at
  return { ...server, metadata, updated_at }
}

const startBody = () => z.strictObject({ server_id: z.string(), redirect_uri: redirectUri() })

/** Stands in for start-oauth and the provider, neither of which has a contract (U032): the only time that state and code are told. */
export const startFlow: Control = {
  name: 'start-oauth-flow',
  method: 'POST',
  path: '/mcp-oauth-flows',
  summary: 'Start an OAuth flow: what start-oauth would return, and the code that the provider would give',
  body: startBody,
  handle: ({ tx, newId, newUuid, at }, { body }) => {
    const { server_id, redirect_uri } = startBody().parse(body)
    tx.in(mcpServers).require(server_id)
    const [state, code] = [newUuid(), newUuid()]
    const sealed = { state: seal(state), code: seal(code) }
    tx.in(oauthFlows).put({ id: newId(), server_id, ...sealed, redirect_uri, created_at: at, used_at: null })
    return { state, code, server_id, redirect_uri }
  },
}
