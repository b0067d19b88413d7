import * as z from 'zod'
import { setting } from '../kernel/assumptions.ts'
import { nonEmptyText, timestamp } from '../kernel/fields.ts'
import { requiredFlag, requiredIf, successCreate } from '../kernel/open-items.ts'
import { type Control, operation, type Resource } from '../kernel/operation.ts'
import { collection } from '../kernel/state/collection.ts'

const connectionRecord = () =>
  z.strictObject({
    id: nonEmptyText(),
    teamspace_id: z.string(),
    user_id: z.string().nullable().default(null),
    connector_id: z.string().nullable().default(null),
    connection_provider_id: z.string().nullable().default(null),
    created_at: timestamp(),
  })

export type Connection = z.output<ReturnType<typeof connectionRecord>>

/** Connections that were asked for. No endpoint shows them. */
export const connections = collection<Connection>({
  name: 'connections',
  label: 'connection',
  schema: connectionRecord,
})

const redirectUrl = setting<string>({
  key: 'connections.redirect_url',
  item: 'U030',
  says: 'Where redirect_url leads: an absolute URL in which {id} stands for the id of the connection.',
  schema: () =>
    z.string().refine((template) => /^https?:/.test(template) && URL.canParse(fill(template, 'id')), {
      error: 'must be an absolute http or https URL; {id} in it stands for the id of the connection',
    }),
  default: 'http://127.0.0.1:4010/__emulator/connections/{id}',
})

function fill(template: string, id: string): string {
  return template.replaceAll('{id}', encodeURIComponent(id))
}

const connectorRequired = requiredFlag('connections.create', 'connector_id', false)
const providerRequired = requiredFlag('connections.create', 'connection_provider_id', false)

const createConnection = operation({
  name: 'connections.create',
  method: 'POST',
  path: '/connections',
  summary: 'Start to connect a third-party service',
  section: 'Create connection',
  dialect: 'standard',
  contract: true,
  success: successCreate,
  answer: () => z.strictObject({ object: z.literal('redirect_url'), redirect_url: z.url() }),
  input: ({ object }, settings) => ({
    body: object({
      connector_id: requiredIf(settings.get(connectorRequired), z.string()),
      connection_provider_id: requiredIf(settings.get(providerRequired), z.string()),
    }),
  }),
  handle: ({ tx, body, caller, newId, at, assume, note }) => {
    if (body.connector_id === undefined || body.connection_provider_id === undefined)
      note(connectorRequired.item)
    const { id } = tx.in(connections).put({
      id: newId(),
      teamspace_id: caller.teamspace_id,
      user_id: caller.user_id,
      connector_id: body.connector_id ?? null,
      connection_provider_id: body.connection_provider_id ?? null,
      created_at: at,
    })
    return { body: { object: 'redirect_url', redirect_url: fill(assume(redirectUrl), id) } }
  },
})

/** Where the default redirect_url leads: it says what was asked for, and that the contract ends there. */
const showConnection: Control = {
  name: 'show',
  method: 'GET',
  path: '/connections/{id}',
  summary: 'Show what a redirect_url stands for',
  handle: ({ tx }, { params }) => ({
    ...tx.in(connections).require(params.id ?? ''),
    message:
      'The specification ends at redirect_url: authentication with the third-party service is not emulated. The setting connections.redirect_url leads elsewhere.',
  }),
}

export const connectionsRoom: Resource = {
  name: 'connections',
  operations: [createConnection],
  collections: [connections],
  controls: [showConnection],
  assumptions: {
    items: [
      {
        id: 'U030',
        open: 'Where redirect_url leads, and what happens there.',
        reading: 'To a local address that says so: the authentication flow is not emulated.',
        shows: 'answer',
      },
    ],
    settings: [redirectUrl, connectorRequired, providerRequired],
  },
}
