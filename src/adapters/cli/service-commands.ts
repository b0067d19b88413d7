import { callCommand } from './call-command.ts'
import { command, SANDBOX_OPTIONS } from './command.ts'
import { controlOf } from './control-client.ts'
import { linesOf, prettyLines, show } from './print.ts'

const TEAMSPACE = { name: '<teamspace-id>', description: 'id of the teamspace' }

// Commands about single resources of the emulated service.

export const agentRunCommands = [
  callCommand({
    name: 'agent-runs',
    description: 'List the runs of agents that triggers and automations have queued',
    route: 'GET /agent-runs',
    columns: ['id', 'agent_id', 'status', 'queued_at', 'cause'],
  }),
]

export const joinCommands = [
  callCommand({
    name: 'join',
    description: 'Let a user join an open teamspace without approval',
    args: [
      TEAMSPACE,
      { name: '<user-id>', description: 'id of the user' },
      { name: '[role]', description: 'role in the teamspace' },
    ],
    route: 'POST /teamspaces/{teamspace_id}/join',
    body: ({ user_id, role }) => ({ user_id, role }),
  }),
]

export const oauthCommands = [
  callCommand({
    name: 'oauth',
    description: 'Start an OAuth flow of an MCP server, and show the code that the provider would give',
    args: [
      { name: '<server-id>', description: 'id of the MCP server' },
      { name: '<redirect-uri>', description: 'where the provider would send the browser' },
    ],
    route: 'POST /mcp-oauth-flows',
    body: ({ server_id, redirect_uri }) => ({ server_id, redirect_uri }),
  }),
]

export const connectionCommands = [
  callCommand({
    name: 'connection',
    description: 'Show the connection of a redirect_url',
    args: [{ name: '<id>', description: 'id of the connection' }],
    route: 'GET /connections/{id}',
  }),
]

export const apiCommands = [
  callCommand({
    name: 'api',
    description: 'List every call of the control interface',
    route: 'GET /',
    lines: ({ routes }) =>
      routes.map(({ method, path, summary }) => `${method.padEnd(6)} ${path}  ${summary}`),
  }),
  callCommand({
    name: 'api operations',
    description: 'List the operations of the emulated API',
    route: 'GET /operations',
    columns: ['name', 'method', 'path', 'summary'],
  }),
  callCommand({
    name: 'api openapi',
    description:
      'Print the OpenAPI document of the emulated API, or with --control that of the control interface',
    options: ['control'],
    route: 'GET /openapi.json',
    query: (_, { control }) => (control ? {} : { api: 'workspace' }),
    lines: prettyLines,
  }),
  command({
    name: 'api problems',
    description: 'List the error codes of the emulated API, or explain one',
    args: [{ name: '[code]', description: 'such as rate_limited' }],
    options: SANDBOX_OPTIONS,
    run: async (invocation) => {
      const ask = controlOf(invocation.options)
      const [code] = invocation.args
      if (code !== undefined) {
        const problem = await ask('GET /problems/{code}', { params: { code } })
        return show(invocation, problem, prettyLines(problem))
      }
      const body = await ask('GET /problems')
      return show(invocation, body, linesOf(body, ['code', 'status', 'retryable', 'meaning']))
    },
  }),
]
