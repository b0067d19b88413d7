import { aSkillRecord } from 'agent-workspace-emulator'
import type { RequestOptions, TestResponse } from './emulator.ts'

const JANUARY = '2026-01-01T00:00:00.000Z'
const FLOW = { state: 'state-of-flow', redirect_uri: 'https://app.example/callback' }
const TRIGGER = { trigger_source: 'file_sharing', trigger_event: 'Document:created' }
export const MESSAGE = '11111111-2222-4333-8444-555555555555'

/** One record of every collection that an operation needs to succeed. */
export const sampleRecords: Readonly<Record<string, readonly object[]>> = {
  skills: [
    aSkillRecord({ id: 'skill-1', creator_id: 'user-owner', created_at: JANUARY, updated_at: JANUARY }),
  ],
  mcp_servers: [
    {
      ...{ id: 'server-1', name: 'Tools', icon_url: 'https://tools.example/icon.png', transport: 'http' },
      ...{ base_url: 'https://tools.example', protocol_version: '1', authorization_secret_id: 'secret-1' },
      metadata: { requires_oauth: true, oauth_configured: false, tool_count: 0, last_synced_at: JANUARY },
      ...{ status: 'active', created_at: JANUARY, updated_at: JANUARY, _emulator: { teamspace_id: 'ts-a' } },
      managed_by_app: { app_uuid: 'app-1', app_name: 'App' },
    },
  ],
  oauth_flows: [{ id: 'flow-1', server_id: 'server-1', ...FLOW, created_at: JANUARY }],
  data_views: [
    {
      ...{ id: 'view-1', warehouse_dataset_name: 'sales', created_at: JANUARY },
      ...{ knowledge_id: 'knowledge-1', service_account_id: 'account-1' },
      _emulator: { teamspace_id: 'ts-a' },
    },
  ],
  conversations: [
    { id: 'conversation-1', _emulator: { teamspace_id: 'ts-a' } },
    { id: 'conversation-2', _emulator: { teamspace_id: 'ts-a' } },
  ],
  messages: [{ id: MESSAGE, _emulator: { conversation_id: 'conversation-1', kind: 'agent' } }],
  agents: [{ id: 'agent-1', _emulator: { teamspace_id: 'ts-a' } }],
  agent_templates: [
    {
      ...{ id: 'template-1', title: 'Estimator', description: 'Estimates.', emoji: '*' },
      ...{ category: 'estimation', connectors: [], prompt_examples: [], is_curated_template: false },
      config: { prompt: '', custom_prompt: '', tools: [] },
      claim_token: 'claim-1',
      _emulator: {},
    },
  ],
  automations: [
    { id: 'automation-1', _emulator: { agent_id: 'agent-1' } },
    { id: 'automation-2', _emulator: { agent_id: 'agent-1' } },
  ],
  event_triggers: ['trigger-1', 'trigger-2'].map((id) => ({
    ...{ id, enabled: true, ...TRIGGER, created_at: JANUARY, updated_at: JANUARY },
    _emulator: { agent_id: 'agent-1' },
  })),
  files: [{ id: 'file-1', teamspace_id: 'ts-a', name: 'a.pdf', kind: 'pdf', pages: 10 }],
}

/** The body of a valid batch creation. */
export function batchBody(items = 2): object {
  return {
    prompt: 'Read the total.',
    output_schema: { type: 'object', properties: { total: { type: 'number' } }, required: ['total'] },
    model: 'model-1',
    completion_window: '24h',
    items: Array.from({ length: items }, (_, n) => ({ file_id: 'file-1', custom_id: `item-${n}` })),
  }
}

/** A request of one operation that succeeds with the sample records. */
export interface SampleCall {
  readonly name: string
  readonly method: string
  readonly path: string
  readonly options: RequestOptions
}

/** What the calls need of an emulator: two of them are about a batch that exists. */
interface SampleEmulator {
  post(path: string, json?: unknown): Promise<Pick<TestResponse, 'body'>>
  advance(by: string): unknown
}

/** One successful call for each operation with a contract, and for each one without a contract that needs no stub. */
export async function sampleCalls(emulator: SampleEmulator): Promise<SampleCall[]> {
  const finished = (await emulator.post('/batch-predictions', batchBody())).body.id as string
  await emulator.advance('1h')
  const running = (await emulator.post('/batch-predictions', batchBody())).body.id as string
  const call = (name: string, method: string, path: string, json?: unknown): SampleCall => ({
    name,
    method,
    path,
    options: json === undefined ? {} : { json },
  })
  return [
    call('messages.feedback', 'POST', `/conversations/conversation-1/messages/${MESSAGE}`, { like: 1 }),
    call('agents.claim', 'POST', '/agents/claim', { claim_token: 'claim-1' }),
    call('pages.create', 'POST', '/pages', { name: 'Plan' }),
    call('mcp-servers.oauth-callback', 'POST', '/organization/mcp-servers/server-1/oauth-callback', {
      code: 'c',
      ...FLOW,
    }),
    call('teamspaces.update', 'PATCH', '/organization/teamspaces/ts-a', { name: 'Renamed' }),
    call('teamspaces.create', 'POST', '/organization/teamspaces', { name: 'New' }),
    call('teamspace-users.list', 'GET', '/organization/teamspaces/ts-a/users'),
    call('teamspace-users.delete', 'DELETE', '/organization/teamspaces/ts-a/users/user-outsider'),
    call('consumption.list', 'GET', '/organization/reports/consumption-breakdown'),
    call('skills.promote', 'POST', '/skills/skill-1/promote'),
    call('connections.create', 'POST', '/connections', { connector_id: 'x', connection_provider_id: 'y' }),
    call('data-views.list', 'GET', '/data-views'),
    call('mcp-servers.list', 'GET', '/organization/mcp-servers'),
    call('automations.delete', 'DELETE', '/agents/agent-1/automations/automation-2'),
    call('event-triggers.update', 'PATCH', '/agents/agent-1/event-triggers/trigger-1', { enabled: false }),
    call('batch-predictions.create', 'POST', '/batch-predictions', batchBody()),
    call('batch-predictions.retrieve', 'GET', `/batch-predictions/${finished}`),
    call('batch-predictions.results', 'GET', `/batch-predictions/${finished}/results`),
    call('batch-predictions.cancel', 'POST', `/batch-predictions/${running}/cancel`),
    call('automations.list', 'GET', '/agents/agent-1/automations'),
    call('automations.create', 'POST', '/agents/agent-1/automations', { name: 'Nightly' }),
    call('automations.retrieve', 'GET', '/agents/agent-1/automations/automation-1'),
    call('automations.update', 'PATCH', '/agents/agent-1/automations/automation-1', { name: 'Daily' }),
    call('event-triggers.list', 'GET', '/agents/agent-1/event-triggers'),
    call('event-triggers.create', 'POST', '/agents/agent-1/event-triggers', TRIGGER),
    call('event-triggers.delete', 'DELETE', '/agents/agent-1/event-triggers/trigger-2'),
    call('agents.list', 'GET', '/agents'),
    call('agents.generate', 'POST', '/agents/generate', {}),
    call('conversations.list', 'GET', '/conversations'),
    call('conversations.delete', 'DELETE', '/conversations/conversation-2'),
  ]
}

/** The nineteen operations with a contract, in the order of the specification. */
export const CONTRACT = [
  ...(['messages.feedback', 'agents.claim', 'pages.create', 'mcp-servers.oauth-callback'] as const),
  ...(['teamspaces.update', 'teamspaces.create', 'teamspace-users.list', 'teamspace-users.delete'] as const),
  ...(['consumption.list', 'skills.promote', 'connections.create', 'data-views.list'] as const),
  ...(['mcp-servers.list', 'automations.delete', 'event-triggers.update'] as const),
  ...(['batch-predictions.create', 'batch-predictions.retrieve'] as const),
  ...(['batch-predictions.results', 'batch-predictions.cancel'] as const),
]
