import { z } from 'zod'
import { inResponse, setting, unnamedItem } from '../core/assumptions.ts'
import { type Consent, consentUrl, withQuery } from '../core/consent.ts'
import { requiredFlag, requiredIf } from '../core/core-assumptions.ts'
import { nonEmptyText, type ShapeOf, timestamp } from '../core/fields.ts'
import { control, operation } from '../core/operation.ts'
import { seal } from '../core/secrets.ts'
import type { Resource } from '../core/service.ts'
import { collection } from '../core/state/collection.ts'
import { consentFields, requirePending, unusedSecret } from './records.ts'
import { teamspaces } from './teamspaces/schema.ts'

const connectionRecord = () =>
  z.strictObject({
    id: nonEmptyText(),
    teamspace_id: z.string(),
    user_id: z.string().nullable().default(null),
    connector_id: z.string().nullable().default(null),
    connection_provider_id: z.string().nullable().default(null),
    created_at: timestamp(),
    /** The result of the consent page. */
    status: z.enum(['pending', 'connected', 'denied', 'failed']).default('pending'),
    ...consentFields(),
  })

export type Connection = z.output<ReturnType<typeof connectionRecord>>

/** Requested connections. No endpoint shows them. */
export const connections = collection<Connection>({
  name: 'connections',
  label: 'connection',
  secrets: ['nonce'],
  schema: connectionRecord,
})

/** An absolute URL with placeholders. @param known a sentence that lists the placeholders */
const urlTemplate = (known: string) =>
  z.string().refine((template) => /^https?:.*/.test(sample(template)) && URL.canParse(sample(template)), {
    error: `must be an absolute http or https URL; ${known}`,
  })

const redirectUrl = setting({
  key: 'connections.redirect_url',
  item: 'U030',
  description:
    'Sets the redirect_url: an absolute URL. {consent} in it is replaced by the URL of the consent page, {id} by the id of the connection, {emulator} by the URL of the control interface of the sandbox, at the origin of the request.',
  schema: () =>
    urlTemplate(
      '{consent} in it is replaced by the URL of the consent page, {id} by the id of the connection, {emulator} by the URL of the control interface',
    ),
  default: '{consent}',
})

const returnUrl = setting({
  key: 'connections.return_url',
  item: 'U080',
  description:
    'Sets the target of the consent page of a connection after the decision: an absolute URL, to which connection_id is added, and error when access was not granted. {id} in it is replaced by the id of the connection. With null, the page shows that the flow is finished.',
  schema: () => urlTemplate('{id} in it is replaced by the id of the connection').nullable(),
  default: null,
})

const PLACE = 'http://localhost'

const sample = (template: string) => fill(template, { id: 'id', consent: PLACE, emulator: PLACE })

function fill(template: string, values: Readonly<Record<string, string>>): string {
  return template.replaceAll(/\{(id|consent|emulator)\}/g, (placeholder, name) => values[name] ?? placeholder)
}

/** The name of the consent page. */
const CONSENT = 'connections'

const connectorRequired = requiredFlag('connections.create', 'connector_id', false)
const providerRequired = requiredFlag('connections.create', 'connection_provider_id', false)

export const createConnection = operation({
  name: 'connections.create',
  method: 'POST',
  path: '/connections',
  summary: 'Start to connect a third-party service',
  section: 'Create connection',
  output: () => z.strictObject({ object: z.literal('redirect_url'), redirect_url: z.url() }),
  input: ({ object }, settings) => ({
    body: object({
      connector_id: requiredIf(settings.get(connectorRequired), z.string()),
      connection_provider_id: requiredIf(settings.get(providerRequired), z.string()),
    }),
  }),
  handle: ({ tx, body, caller, newId, newUuid, at, assume, controlUrl }) => {
    if (body.connector_id === undefined) assume(connectorRequired)
    if (body.connection_provider_id === undefined) assume(providerRequired)
    const nonce = unusedSecret(newUuid, tx.in(connections), (each) => each.nonce ?? '')
    const { id } = tx.in(connections).insert({
      id: newId(),
      teamspace_id: caller.teamspace_id,
      user_id: caller.user_id,
      connector_id: body.connector_id ?? null,
      connection_provider_id: body.connection_provider_id ?? null,
      created_at: at,
      status: 'pending',
      nonce: seal(nonce),
      decided_at: null,
    })
    const values = {
      id: encodeURIComponent(id),
      consent: consentUrl(controlUrl, CONSENT, nonce),
      emulator: controlUrl,
    }
    return { body: { object: 'redirect_url', redirect_url: fill(assume(redirectUrl), values) } }
  },
})

const connectionView = () => connectionRecord().omit({ nonce: true })

export type ConnectionView = ShapeOf<typeof connectionView>

export const showConnection = control({
  name: 'show',
  method: 'GET',
  path: '/connections/{id}',
  summary: 'Show a connection, with the result of its consent page',
  output: connectionView,
  handle: ({ tx }, { params }) => {
    const { nonce: _, ...shown } = tx.in(connections).require(params.id)
    return shown
  },
})

/** The status of a connection after each outcome of the consent page; others fail it. */
const STATUSES: Readonly<Record<string, Connection['status']>> = { allow: 'connected', deny: 'denied' }

/** The page of the third-party service, to which the default redirect_url leads. */
const connectionConsent: Consent = {
  name: CONSENT,
  errors: { server_error: 'Server error' },
  ask: ({ tx, settings }, { nonce }) => {
    const { id, teamspace_id, user_id, ...wanted } = requirePending(tx.in(connections), nonce)
    const service = wanted.connector_id ?? 'a third-party service'
    return {
      title: `Connect ${service} to ${tx.in(teamspaces).get(teamspace_id)?.name ?? teamspace_id}?`,
      asker: user_id === null ? 'Requested with a service key.' : `Requested by ${user_id}.`,
      grants: ['Read and write what the account can', 'Keep access until it is revoked'],
      facts: [
        ['Connection', id],
        ['Provider', wanted.connection_provider_id ?? 'none given'],
      ],
      returnsTo: returnOf(settings.get(returnUrl), id),
    }
  },
  decide: ({ tx, at, settings }, { nonce }, outcome) => {
    const connection = requirePending(tx.in(connections), nonce)
    const status = STATUSES[outcome] ?? 'failed'
    tx.in(connections).put({ ...connection, status, decided_at: at })
    const target = returnOf(settings.get(returnUrl), connection.id)
    if (target === null) return null
    const error = status === 'denied' ? { error: 'access_denied' } : { error: outcome }
    return withQuery(target, {
      connection_id: connection.id,
      ...(status === 'connected' ? {} : error),
    })
  },
}

const returnOf = (template: string | null, id: string) =>
  template === null ? null : fill(template, { id: encodeURIComponent(id) })

export const connectionsResource: Resource = {
  name: 'connections',
  operations: [createConnection],
  collections: [connections],
  controls: [showConnection],
  consents: [connectionConsent],
  assumptions: {
    items: [
      inResponse(
        'U030',
        'Where redirect_url leads, and what happens there.',
        'To a page of the emulator that plays the provider: it asks for consent.',
      ),
      unnamedItem(
        'U080',
        'The target of the authentication flow of a connection when it is finished.',
        'None: the consent page shows that the flow is finished, unless a setting has a URL.',
        'No response of the API depends on it.',
      ),
    ],
    settings: [redirectUrl, returnUrl, connectorRequired, providerRequired],
  },
}
