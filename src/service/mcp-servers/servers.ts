import { z } from 'zod'
import { choice, type Settings, setting } from '../../core/assumptions.ts'
import { intBetween, nonEmptyText, timestamp } from '../../core/fields.ts'
import { type Json, valueAt } from '../../core/json.ts'
import { operation } from '../../core/operation.ts'
import { listOrder, ordered } from '../../core/request/pagination.ts'
import { collection } from '../../core/state/collection.ts'
import { shown } from '../../core/state/state.ts'
import { DAY } from '../../core/time/instant.ts'
import { noteOrder } from '../cursor-page.ts'
import { isOwn, refersTo } from '../records.ts'
import { teamspaces } from '../teamspaces/schema.ts'

export const nullValues = setting({
  key: 'mcp.null_values',
  item: 'T32',
  description:
    'Decides whether last_synced_at and managed_by_app of an MCP server can be null, although their types are plain.',
  schema: () => z.boolean(),
  default: false,
  observe: ({ operation, received }) => {
    const servers = operation === 'mcp-servers.list' ? valueAt(received, '/data') : undefined
    const hasNull = (each: Json) =>
      valueAt(each, '/metadata/last_synced_at') === null || valueAt(each, '/managed_by_app') === null
    return Array.isArray(servers) && servers.some(hasNull) ? true : undefined
  },
})

export const listHasMore = choice({
  key: 'mcp.list.has_more',
  item: 'U031',
  description:
    'Decides whether the list of MCP servers carries has_more, which is then false: the list is always whole.',
  values: ['present', 'absent'],
  observe: ({ operation, status, received }) => {
    if (operation !== 'mcp-servers.list' || status >= 300 || received === undefined) return undefined
    return valueAt(received, '/has_more') === undefined ? 'absent' : 'present'
  },
})

function plain<T>(settings: Settings, schema: z.ZodType<T>): z.ZodType<T | null> {
  return settings.get(nullValues) ? schema.nullable() : schema
}

const shownServer = (settings: Settings) =>
  z.strictObject({
    object: z.literal('mcp_server').default('mcp_server'),
    id: nonEmptyText(),
    name: z.string(),
    icon_url: z.string(),
    base_url: z.string(),
    transport: z.string(),
    protocol_version: z.string(),
    authorization_secret_id: z.string(),
    status: z.string(),
    metadata: z.strictObject({
      requires_oauth: z.boolean(),
      oauth_configured: z.boolean(),
      tool_count: intBetween(0, Number.MAX_SAFE_INTEGER),
      last_synced_at: plain(settings, z.string()),
    }),
    created_at: timestamp(),
    updated_at: timestamp(),
    managed_by_app: plain(settings, z.strictObject({ app_uuid: z.string(), app_name: z.string() })),
  })

const serverRecord = (settings: Settings) =>
  shownServer(settings)
    .extend({
      _emulator: z.strictObject({
        teamspace_id: z.string(),
        /** Whether a re-sync of the tool manifest would work. */
        sync: z.enum(['ok', 'fails']).default('ok'),
        /** The tools that a re-sync finds; absent: it changes neither tool_count nor last_synced_at (T37). */
        tools: z.array(z.string()).optional(),
      }),
    })
    .refine(({ created_at, updated_at }) => Date.parse(updated_at) >= Date.parse(created_at), {
      path: ['updated_at'],
      error: 'must not be before created_at',
    })

export type McpServer = z.output<ReturnType<typeof serverRecord>>

export const mcpServers = collection<McpServer>({
  name: 'mcp_servers',
  label: 'MCP server',
  schema: serverRecord,
  check: refersTo(teamspaces, '_emulator', 'teamspace_id'),
  generate: ({ faker, chance, newId, newUuid, ago, any }) => {
    const created_at = ago(chance.int(1, 300) * DAY)
    const word = faker.hacker.noun()
    return {
      id: newId(),
      name: `${word} tools`,
      icon_url: 'https://mcp.example/icon.svg',
      base_url: `https://${faker.internet.domainWord()}.example/mcp`,
      transport: 'http',
      protocol_version: '1',
      authorization_secret_id: newUuid(),
      status: 'active',
      metadata: {
        requires_oauth: true,
        oauth_configured: false,
        tool_count: chance.int(1, 30),
        last_synced_at: created_at,
      },
      created_at,
      updated_at: created_at,
      managed_by_app: { app_uuid: newUuid(), app_name: faker.commerce.productName() },
      _emulator: { teamspace_id: any(teamspaces).id },
    }
  },
})

export const listServers = operation({
  name: 'mcp-servers.list',
  method: 'GET',
  path: '/organization/mcp-servers',
  summary: 'List the MCP servers of the teamspace',
  section: 'List MCP servers',
  beta: true,
  output: (settings) =>
    z.strictObject({
      object: z.literal('list'),
      data: z.array(shownServer(settings)),
      ...(settings.get(listHasMore) === 'present' ? { has_more: z.literal(false) } : {}),
    }),
  handle: ({ tx, caller, seed, settings, assume, note }) => {
    const servers = tx.in(mcpServers).filter((server) => isOwn(caller, server))
    note('T21', listHasMore)
    const whole = assume(listHasMore) === 'present' ? { has_more: false } : {}
    noteOrder(servers, assume)
    const data = ordered(servers, settings.get(listOrder), seed).map(shown)
    return { body: { object: 'list', data, ...whole } }
  },
})
