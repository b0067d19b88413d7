import { z } from 'zod'
import { choice, setting } from '../../core/assumptions.ts'
import { consentUrl, withQuery } from '../../core/consent.ts'
import { declareError, statusSetting } from '../../core/error-kinds.ts'
import { refuseInvalid } from '../../core/errors.ts'
import { type InputOf, nonEmptyText, type ShapeOf, text, timestamp } from '../../core/fields.ts'
import type { Issue } from '../../core/json.ts'
import { control, operation, type Request } from '../../core/operation.ts'
import { seal } from '../../core/secrets.ts'
import { collection } from '../../core/state/collection.ts'
import { type Assume, consentFields, presentedSecret, requireOwn, unusedSecret } from '../records.ts'
import { type McpServer, mcpServers } from './servers.ts'

/** Hosts to which a redirect may go without TLS. Specification: Complete MCP OAuth flow. */
const LOOPBACK = ['localhost', '127.0.0.1', '[::1]']

// Scheme, userinfo, host and port as written: a URL parser would normalize them.
const WRITTEN = /^(https?):\/\/([^/?#@]*@)?(\[[^\]/?#@]*\]|[^/?#@:[\]]+)(:\d{1,5})?(?=[/?#]|$)/i

// URL parsers remove or replace these characters, so the text and its address would differ.
const REWRITTEN = /[\p{Cc}\s\\]/u

// The hosts that a parser or a resolver takes for this machine, in the form that URL gives them: RFC 1122, 4291 and 6761.
const OF_THIS_MACHINE =
  /^(?:(?:.+\.)?localhost\.?|127\.\d+\.\d+\.\d+|\[::1\]|\[::ffff:7f[\da-f]{2}:[\da-f]+\])$/

const anyCase = (word: string) => word.replaceAll(/[a-z]/g, (letter) => `[${letter.toUpperCase()}${letter}]`)
const hosts = LOOPBACK.map((host) => anyCase(host.replaceAll(/[.[\]]/g, '\\$&'))).join('|')

/** A redirect URI in JSON Schema, whose patterns have no flags. It matches every URI without a {@link redirectProblem}. */
const REDIRECT = {
  format: 'uri',
  maxLength: 2048,
  pattern: `^${anyCase('http')}(?:[Ss]://[^/?#]|://(?:${hosts})(?::[0-9]{1,5})?(?:[/?#]|$))`,
}

/**
 * The problem of a redirect URI, or undefined: it must be HTTPS, or HTTP to one of three loopback hosts with any port and
 * path. The host is compared as written, because parsing turns `http://2130706433` and `http://127.1` into 127.0.0.1.
 * `loopback`: whether it depends on which hosts count as loopback (T30). Specification: Complete MCP OAuth flow.
 */
export function redirectProblem(
  uri: string,
): { readonly detail: string; readonly loopback: boolean } | undefined {
  const written = REWRITTEN.test(uri) ? null : WRITTEN.exec(uri)
  if (written === null || !URL.canParse(uri)) {
    return { detail: 'must be an absolute https URL, or http to a loopback address', loopback: false }
  }
  const [, scheme = '', userinfo, host = ''] = written
  if (scheme.toLowerCase() === 'https') return undefined
  const loopback = OF_THIS_MACHINE.test(new URL(uri).hostname)
  if (userinfo !== undefined) return { detail: 'must not have a user name unless it is https', loopback }
  if (LOOPBACK.includes(host.toLowerCase())) return undefined
  return {
    detail: `must be https; http is only for exactly ${LOOPBACK.join(', ')}, and the host is "${host}"`,
    loopback,
  }
}

/** A redirect URI of at most 2048 characters without a {@link redirectProblem}. */
export function redirectUri(): z.ZodType<string> {
  return text(2048)
    .check((context) => {
      const problem = redirectProblem(context.value)
      if (problem === undefined) return
      context.issues.push({ code: 'custom', message: problem.detail, input: context.value })
    })
    .meta(REDIRECT)
}

/** Permission without which the tools of a server are not synced. Specification: Authentication. */
const EDIT_ORGANIZATION = 'organization:edit'

const flowRecord = () =>
  z.strictObject({
    id: nonEmptyText(),
    server_id: z.string(),
    state: text(512),
    /** The code that the provider issues; null: any code is accepted. */
    code: text(4096).nullable().default(null),
    redirect_uri: redirectUri(),
    created_at: timestamp(),
    used_at: timestamp().nullable().default(null),
    ...consentFields(),
  })

export type OAuthFlow = z.output<ReturnType<typeof flowRecord>>

/** Flows that start-oauth would have started. */
export const oauthFlows = collection<OAuthFlow>({
  name: 'oauth_flows',
  label: 'OAuth flow',
  secrets: ['state', 'code', 'nonce'],
  schema: flowRecord,
})

export const stateReuse = choice({
  key: 'mcp.oauth.state_reuse',
  item: 'U032',
  description:
    'Decides what happens to a state that has already completed a flow: refused, or accepted again.',
  values: ['reject', 'accept'],
})

export const configuredAfter = choice({
  key: 'mcp.oauth_configured',
  item: 'T37',
  description: 'Decides whether a completed flow sets metadata.oauth_configured of its server.',
  values: ['set', 'keep'],
})

export const callbackMessage = setting({
  key: 'mcp.oauth.message',
  item: 'U065',
  description: 'Sets the message of every OAuth callback result; null for a sentence about its outcome.',
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

export const principalStatus = statusSetting(
  'oauth_principal',
  'U033',
  403,
  'to a service key on the OAuth callback',
)

const needsUser = declareError('mcp_oauth_requires_user_principal', {
  status: principalStatus,
  title: 'User Principal Required',
  retryable: false,
  documented: true,
  mitigation: 'Call this endpoint with a user-scoped key.',
  meaning: 'A service key called an operation that needs a person.',
})

export const completeFlow = operation({
  name: 'mcp-servers.oauth-callback',
  method: 'POST',
  path: '/organization/mcp-servers/{server_id}/oauth-callback',
  summary: 'Complete the OAuth flow of an MCP server',
  section: 'Complete MCP OAuth flow',
  beta: true,
  secrets: ['code', 'state'],
  permissionShown: true,
  principal: { kind: 'user', code: needsUser },
  output: () =>
    z.strictObject({
      object: z.literal('mcp_oauth_callback'),
      oauth_configured: z.literal(true),
      tools_synced: z.boolean(),
      message: nonEmptyText(),
    }),
  input: ({ object }) => ({
    body: object({ code: text(4096), state: text(512), redirect_uri: text(2048).meta(REDIRECT) }),
  }),
  find: (finder) => requireOwn(finder, mcpServers, finder.params.server_id),
  handle: ({ tx, body, caller, target: server, at, assume, note }) => {
    const flow = provenFlow(body, { tx, target: server, assume, note })
    tx.in(oauthFlows).put({ ...flow, used_at: at })
    const synced: Sync = server._emulator.sync === 'ok' ? 'synced' : 'failed'
    const sync = caller.permissions.includes(EDIT_ORGANIZATION) ? synced : 'not_permitted'
    tx.in(mcpServers).put(afterExchange(server, sync, assume(configuredAfter) === 'set', at))
    const tools_synced = sync === 'synced'
    const message = assume(callbackMessage) ?? sentences[sync]
    return { body: { object: 'mcp_oauth_callback', oauth_configured: true, tools_synced, message } }
  },
})

type Proof = Readonly<Record<'code' | 'state' | 'redirect_uri', string>>
type Check = Pick<Request<object, McpServer>, 'tx' | 'target' | 'assume' | 'note'>

// The flow of a code, a state and a redirect URI. If one of them does not fit, nothing is consumed.
function provenFlow(given: Proof, { tx, target: server, assume, note }: Check): OAuthFlow {
  const redirect = redirectProblem(given.redirect_uri)
  if (redirect?.loopback) note('T30')
  if (redirect !== undefined) refuseInvalid([{ pointer: '/redirect_uri', detail: redirect.detail }])
  const state = presentedSecret(given.state)
  const flow = tx.in(oauthFlows).find((each) => each.server_id === server.id && each.state === state)
  const issues = mismatches(given, flow, assume)
  if (issues.length > 0) note('U033', principalStatus)
  refuseInvalid(issues)
  if (flow?.code === null) note('U032')
  return flow as OAuthFlow // without a flow there was an issue
}

function mismatches({ code, redirect_uri }: Proof, flow: OAuthFlow | undefined, assume: Assume): Issue[] {
  if (flow === undefined)
    return [{ pointer: '/state', detail: 'is not the state of a flow that was started for this server' }]
  if (flow.used_at !== null && assume(stateReuse) === 'reject')
    return [{ pointer: '/state', detail: 'has already completed its flow; start another flow' }]
  const issues: Issue[] = []
  if (flow.code !== null && flow.code !== presentedSecret(code)) {
    issues.push({ pointer: '/code', detail: 'is not the code that the provider issued for this flow' })
  }
  if (flow.redirect_uri !== redirect_uri) {
    issues.push({
      pointer: '/redirect_uri',
      detail: 'is not the redirect_uri with which the flow was started',
    })
  }
  return issues
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
  // The creation in a fixture may be after now, and an update is never before the creation.
  const updated_at = Date.parse(server.created_at) > Date.parse(at) ? server.created_at : at
  return { ...server, metadata, updated_at }
}

/** The name of the consent page. */
export const CONSENT = 'mcp-oauth'

const startBody = () => z.strictObject({ server_id: z.string(), redirect_uri: redirectUri() })

/** Replaces start-oauth and the provider, which have no contract (U032). Only this response shows state and code. */
export type OauthFlowDraft = InputOf<typeof startBody>

/** A started flow, with the secrets that are shown this once. */
const startedFlow = () =>
  startBody().extend({
    state: z.string(),
    code: z.string(),
    /** The consent page, which returns to redirect_uri with another code, or with an error. */
    authorize_url: z.url(),
  })

export type OauthFlow = ShapeOf<typeof startedFlow>

export const startFlow = control({
  name: 'start-oauth-flow',
  method: 'POST',
  path: '/mcp-oauth-flows',
  summary: 'Start an OAuth flow: returns the response of start-oauth, and the code of the provider',
  input: () => ({ body: startBody() }),
  output: startedFlow,
  handle: ({ tx, newId, newUuid, at, controlUrl }, { body: { server_id, redirect_uri } }) => {
    tx.in(mcpServers).require(server_id)
    const flows = tx.in(oauthFlows)
    const state = unusedSecret(newUuid, flows, (each) => each.state)
    const code = newUuid()
    const nonce = unusedSecret(newUuid, flows, (each) => each.nonce ?? '')
    flows.insert({
      id: newId(),
      server_id,
      state: seal(state),
      code: seal(code),
      redirect_uri,
      created_at: at,
      used_at: null,
      nonce: seal(nonce),
      decided_at: null,
    })
    const authorize_url = withQuery(consentUrl(controlUrl, CONSENT, nonce), { state })
    return { state, code, authorize_url, server_id, redirect_uri }
  },
})
