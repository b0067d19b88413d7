import { call } from '../terminal/call-command.ts'
import { columns, linesOf, prettyLines } from '../terminal/print.ts'

// Commands about single resources of the emulated service, and about its whole interface.
export const serviceCommands = [
  call('agent-runs', 'GET /agent-runs', {
    description: 'List the runs of agents that triggers and automations have queued',
    columns: ['id', 'agent_id', 'status', 'queued_at', 'cause'],
  }),
  call('join', 'POST /teamspaces/{teamspace_id}/join', {
    description: 'Let a user join an open teamspace without approval',
    args: {
      '<teamspace-id>': 'id of the teamspace',
      '<user-id>': 'id of the user',
      '[role]': 'role in the teamspace',
    },
    body: ({ user_id, role }) => ({ user_id, role }),
  }),
  call('oauth', 'POST /mcp-oauth-flows', {
    description: 'Start an OAuth flow of an MCP server, and show the code that the provider would give',
    args: {
      '<server-id>': 'id of the MCP server',
      '<redirect-uri>': 'where the provider would send the browser',
    },
    body: (args) => args,
  }),
  call('connection', 'GET /connections/{id}', {
    description: 'Show the connection of a redirect_url',
    args: { '<id>': 'id of the connection' },
  }),
  call('api', 'GET /', {
    description: 'List every call of the control interface',
    lines: ({ routes }) => columns(routes.map(({ method, path, summary }) => [method, path, summary])),
  }),
  call('api operations', 'GET /operations', {
    description: 'List the operations of the emulated API',
    columns: ['name', 'method', 'path', 'summary'],
  }),
  call('api openapi', 'GET /openapi.json', {
    description:
      'Print the OpenAPI document of the emulated API, or with --control that of the control interface',
    options: ['control'],
    query: (_, { control }) => (control ? {} : { api: 'workspace' }),
    lines: prettyLines,
  }),
  call('api problems', ['GET /problems/{code}', 'GET /problems'], {
    description: 'List the error codes of the emulated API, or explain one',
    args: { '[code]': 'such as rate_limited' },
    lines: (body, { code }) =>
      code === undefined ? linesOf(body, ['code', 'status', 'retryable', 'meaning']) : prettyLines(body),
  }),
]
