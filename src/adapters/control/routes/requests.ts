import * as z from 'zod'
import { didYouMean } from '../../../core/did-you-mean.ts'
import { refuse, refuseInvalid } from '../../../core/errors.ts'
import { type InputOf, list, listOf, queryInt, queryText, type ShapeOf } from '../../../core/fields.ts'
import type { LogEntry, RequestTiming } from '../../../core/log/request-log.ts'
import { matches, STATUS_PATTERN } from '../../../core/log/request-match.ts'
import type { Call, CallBody } from '../../../core/request/exchange.ts'
import { perform } from '../../../core/request/pipeline.ts'
import type { Sandbox } from '../../../core/sandboxes/sandbox.ts'
import { elapsedTime } from '../../../core/time/clock.ts'
import { harDocument, harOf } from '../har.ts'
import type { ControlHost } from '../host.ts'
import { entriesBefore, entriesSince, entryOf, requestEntry } from '../request-entry.ts'
import { noBody, route } from '../route.ts'

/** How many entries a list holds when nobody asks for another number. */
const USUAL = 100

const filters = () =>
  z.strictObject({
    operation: queryText().optional(),
    method: queryText().optional(),
    /** A glob: `*` is any run of characters. */
    path: queryText().optional(),
    status: queryText()
      .refine((value) => STATUS_PATTERN.test(value), {
        error: 'must be a status such as 429, or a class such as 4xx',
      })
      .optional(),
    idempotency_key: queryText().optional(),
    sandbox: queryText().optional(),
    since: queryText().optional(),
    /** The id of a request: those before it. */
    before: queryText().optional(),
    limit: queryInt(1, 100_000).optional(),
  })

const loggedRequests = () =>
  filters()
    .extend({
      /** `true`: with heads and bodies of requests and responses, as far as they are kept. */
      full: z.enum(['true', 'false']).optional(),
    })
    .prefault({})

/** Which requests of the log are asked for, as a query. */
export type LoggedRequests = NonNullable<InputOf<typeof loggedRequests>>

/** The log of API requests, as far as it was asked for. */
const requestList = () =>
  listOf(requestEntry()).extend({
    /** How many fit, also those that were left out. */
    matched: z.int(),
    /** How many the log can hold. */
    capacity: z.int(),
    /** How many it has dropped. */
    dropped: z.int(),
  })

/** What the log says beside its entries. */
export type LogCounts = Omit<ShapeOf<typeof requestList>, 'object' | 'data'>

/** The log of API requests. */
export const requestRoutes = [
  route({
    name: 'requests.list',
    method: 'GET',
    path: '/requests',
    summary: `List the newest API requests (${USUAL} unless limit says otherwise), in order of arrival`,
    returns: 'The entries, how many the log can hold, and how many it has dropped.',
    input: () => ({ query: loggedRequests() }),
    output: requestList,
    handle: async ({ host, sandbox: chosen, query: { full, ...query } }) => {
      const { sandbox, found, newest } = await search(host, chosen, query)
      return {
        body: {
          ...list(newest.map((entry) => entryOf(sandbox, entry, full === 'true'))),
          matched: found.length,
          capacity: sandbox.log.capacity,
          dropped: sandbox.log.dropped,
        },
      }
    },
  }),
  route({
    name: 'requests.har',
    method: 'GET',
    path: '/requests/har',
    summary: 'Show the newest API requests as HAR 1.2, with heads and bodies as far as they are kept',
    returns: 'A HAR document: instants are virtual, durations real, and keys and secrets are left out.',
    input: () => ({ query: filters().prefault({}) }),
    output: harDocument,
    handle: async ({ host, sandbox: chosen, query, controlUrl }) => {
      const { sandbox, newest } = await search(host, chosen, query)
      return { body: harOf(sandbox, newest, { origin: new URL(controlUrl).origin, version: host.version }) }
    },
  }),
  route({
    name: 'requests.clear',
    method: 'DELETE',
    path: '/requests',
    summary: 'Empty the log of API requests',
    returns: 'Nothing.',
    success: [204],
    output: noBody,
    handle: ({ sandbox }) => {
      sandbox.log.clear()
      return { status: 204 }
    },
  }),
  route({
    name: 'requests.resend',
    method: 'POST',
    path: '/requests/{request_id}/resend',
    summary: 'Send a logged request of the sandbox again, as the caller that it was logged with',
    returns:
      'The entry of the new request. It runs inside of the emulator, so that faults of the connection do not act on it.',
    output: requestEntry,
    handle: async ({ sandbox, params: { request_id } }) => {
      const timing: RequestTiming = { began: elapsedTime(), took: undefined, onOver: undefined }
      await perform(sandbox, { ...callAgain(sandbox, request_id), timing }).durable
      timing.took = elapsedTime() - timing.began
      timing.onOver?.()
      return { body: entryOf(sandbox, sandbox.log.entries().at(-1) as LogEntry) }
    },
  }),
] as const

type Filters = z.output<ReturnType<typeof filters>>

/** The entries that fit, and the newest of them. */
async function search(
  host: ControlHost,
  chosen: Sandbox,
  { sandbox: name, since, before, limit = USUAL, ...match }: Filters,
) {
  // Looking must not make a sandbox that nobody has used.
  const sandbox = name === undefined ? chosen : (await host.sandboxes.find(name)).sandbox
  refuseUnknownOperation(sandbox, match.operation)
  const range = entriesBefore(entriesSince(sandbox, since, '/query/since'), before)
  const found = range.filter((entry) => matches(match, entry))
  return { sandbox, found, newest: found.slice(-limit) }
}

/** A request of the log as a call. Refuses where the log has not kept all of it. */
function callAgain(sandbox: Sandbox, id: string): Call {
  const entry =
    sandbox.log.find(id) ??
    refuse('not_found', {
      detail: `The request ${id} is not in the log.`,
      mitigation: 'GET /__emulator/requests lists those that are.',
    })
  const operation = entry.stubbed ?? sandbox.service.operations.get(entry.operation ?? '')
  if (operation === undefined) return refuseResend(id, 'it fits no route')
  if (entry.caller === undefined) return refuseResend(id, 'no known key had made it')
  const { method, path, pathPrefix, chosenBy, params, query, headers, body } = entry
  if (body.kind === 'large' || body.kind === 'refused') return refuseResend(id, 'its body was not kept')
  const again: CallBody = body.kind === 'json' ? { kind: 'json', value: body.value } : body
  const { key_id: keyId } = entry.caller
  return { operation, method, path, pathPrefix, chosenBy, params, query, headers, body: again, keyId }
}

function refuseResend(id: string, reason: string): never {
  return refuse('conflict', {
    detail: `The request ${id} cannot be sent again: ${reason}.`,
    mitigation: 'Send it with the client that has made it.',
  })
}

function refuseUnknownOperation({ service }: Sandbox, name: string | undefined): void {
  if (name === undefined || service.operations.has(name)) return
  const hint = didYouMean(name, [...service.operations.keys()])
  refuseInvalid([{ pointer: '/query/operation', detail: `There is no operation "${name}".${hint}` }])
}
