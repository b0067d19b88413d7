import * as z from 'zod'
import { setting } from '../core/assumptions.ts'
import { requiredFlag, requiredIf, successCreate } from '../core/core-assumptions.ts'
import { resolveUrl } from '../core/errors.ts'
import { nonEmptyText, type ShapeOf, timestamp } from '../core/fields.ts'
import { control, operation } from '../core/operation.ts'
import type { Resource } from '../core/service.ts'
import { collection } from '../core/state/collection.ts'

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

/** Requested connections. No endpoint shows them. */
export const connections = collection<Connection>({
  name: 'connections',
  label: 'connection',
  schema: connectionRecord,
})

const redirectUrl = setting({
  key: 'connections.redirect_url',
  item: 'U030',
  description:
    'The redirect_url: an absolute URL. {id} in it stands for the id of the connection, {emulator} for the control interface of the sandbox, at the origin of the request.',
  schema: () =>
    z.string().refine((template) => /^https?:.*/.test(sample(template)) && URL.canParse(sample(template)), {
      error:
        'must be an absolute http or https URL; {id} in it is replaced by the id of the connection, {emulator} by the URL of the control interface',
    }),
  default: '{emulator}/connections/{id}',
})

const sample = (template: string) => fill(template, 'id', 'http://localhost')

function fill(template: string, id: string, controlUrl: string): string {
  return resolveUrl(template, controlUrl).replaceAll('{id}', encodeURIComponent(id))
}

const connectorRequired = requiredFlag('connections.create', 'connector_id', false)
const providerRequired = requiredFlag('connections.create', 'connection_provider_id', false)

const createConnection = operation({
  name: 'connections.create',
  method: 'POST',
  path: '/connections',
  summary: 'Start to connect a third-party service',
  section: 'Create connection',
  errorFormat: 'standard',
  contract: true,
  success: successCreate,
  output: () => z.strictObject({ object: z.literal('redirect_url'), redirect_url: z.url() }),
  input: ({ object }, settings) => ({
    body: object({
      connector_id: requiredIf(settings.get(connectorRequired), z.string()),
      connection_provider_id: requiredIf(settings.get(providerRequired), z.string()),
    }),
  }),
  handle: ({ tx, body, caller, newId, at, assume, controlUrl }) => {
    if (body.connector_id === undefined) assume(connectorRequired)
    if (body.connection_provider_id === undefined) assume(providerRequired)
    const { id } = tx.in(connections).insert({
      id: newId(),
      teamspace_id: caller.teamspace_id,
      user_id: caller.user_id,
      connector_id: body.connector_id ?? null,
      connection_provider_id: body.connection_provider_id ?? null,
      created_at: at,
    })
    return { body: { object: 'redirect_url', redirect_url: fill(assume(redirectUrl), id, controlUrl) } }
  },
})

/** The target of the default redirect_url: the requested connection, and that the contract ends there. */
const connectionView = () =>
  connectionRecord().extend({
    /** Why it ends here. */
    message: z.string(),
  })

export type ConnectionView = ShapeOf<typeof connectionView>

export const showConnection = control({
  name: 'show',
  method: 'GET',
  path: '/connections/{id}',
  summary: 'Show the connection of a redirect_url',
  output: connectionView,
  handle: ({ tx }, { params }) => ({
    ...tx.in(connections).require(params.id),
    message:
      'The specification ends at redirect_url: authentication with the third-party service is not emulated. The setting connections.redirect_url leads elsewhere.',
  }),
})

export const connectionsResource: Resource = {
  name: 'connections',
  operations: [createConnection],
  collections: [connections],
  controls: [showConnection],
  assumptions: {
    items: [
      {
        id: 'U030',
        open: 'Where redirect_url leads, and what happens there.',
        decision: 'To a local address that explains that the authentication flow is not emulated.',
        reportedIn: 'response',
      },
    ],
    settings: [redirectUrl, connectorRequired, providerRequired],
  },
}
