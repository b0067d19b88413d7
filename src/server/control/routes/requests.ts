import { z } from 'zod'
import { didYouMean } from '../../../core/did-you-mean.ts'
import { refuse, refuseInvalid } from '../../../core/errors.ts'
import { type InputOf, list, listOf, queryInt, queryText, type ShapeOf } from '../../../core/fields.ts'
import type { LogEntry, RequestTiming } from '../../../core/log/request-log.ts'
import { matches, STATUS_PATTERN } from '../../../core/log/request-match.ts'
import type { Call, CallBody } from '../../../core/request/exchange.ts'
import { perform } from '../../../core/request/pipeline.ts'
import type { Sandbox } from '../../../core/sandboxes/sandbox.ts'
import { elapsedTime } from '../../../core/time/clock.ts'
import { sentence } from '../../../core/words.ts'
import { harDocument, harOf } from '../har.ts'
import type { ControlHost } from '../host.ts'
import { entriesBefore, entriesSince, entryOf, requestEntry } from '../request-entry.ts'
import { flag, noBody, route } from '../route.ts'

/** Default number of entries in a list. */
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
    trace: queryText().optional(),
    sandbox: queryText().optional(),
    since: queryText().optional(),
    /** The id of a request: only requests before it. */
    before: queryText().optional(),
    limit: queryInt(1, 100_000).optional(),
    /** `true`: without real-time fields. */
    stable: flag(),
  })

const loggedRequests = () =>
  filters()
    .extend({
      /** `true`: with heads and bodies of requests and responses, as far as they are kept. */
      full: flag(),
    })
    .prefault({})

/** The query of the request log. */
export type LoggedRequests = NonNullable<InputOf<typeof loggedRequests>>

/** The entries of the log that a query selects. */
const requestList = () =>
  listOf(requestEntry()).extend({
    /** Number of requests that match, also those beyond `limit`. */
    matched: z.int(),
    /** Maximum number of requests in the log. */
    capacity: z.int(),
    /** Number of requests that the log has dropped. */
    dropped: z.int(),
  })

/** The counters of the log. */
export type LogCounts = Omit<ShapeOf<typeof requestList>, 'object' | 'data'>

/** The log of API requests. */
export const requestRoutes = [
  route('GET /requests', {
    name: 'requests.list',
    summary: `List the newest API requests (limit, default ${USUAL}), in order of arrival; one that waited at a gate is where it went on`,
    returns: 'The entries, the capacity of the log, and the number of requests that it has dropped.',
    input: () => ({ query: loggedRequests() }),
    output: requestList,
    handle: async ({ host, sandbox: chosen, query: { full, ...query } }) => {
      const { sandbox, found, newest } = await search(host, chosen, query)
      return {
        body: {
          ...list(newest.map((entry) => entryOf(sandbox, entry, { full, stable: query.stable }))),
          matched: found.length,
          capacity: sandbox.log.capacity,
          dropped: sandbox.log.dropped,
        },
      }
    },
  }),
  route('GET /requests/har', {
    name: 'requests.har',
    summary: 'Show the newest API requests as HAR 1.2, with heads and bodies as far as they are kept',
    returns: 'A HAR document: instants are virtual, durations real, and keys and secrets are left out.',
    input: () => ({ query: filters().prefault({}) }),
    output: harDocument,
    handle: async ({ host, sandbox: chosen, query, controlUrl }) => {
      const { sandbox, newest } = await search(host, chosen, query)
      const facts = { origin: new URL(controlUrl).origin, version: host.version }
      return { body: harOf(sandbox, newest, { ...facts, stable: query.stable }) }
    },
  }),
  route('DELETE /requests', {
    name: 'requests.clear',
    summary: 'Empty the log of API requests',
    returns: 'Nothing.',
    success: [204],
    output: noBody,
    handle: ({ sandbox }) => {
      sandbox.log.clear()
      return { status: 204 }
    },
  }),
  route('POST /requests/{request_id}/resend', {
    name: 'requests.resend',
    summary: 'Send a logged request of the sandbox again, as the caller that it was logged with',
    returns:
      'The entry of the new request. It runs inside the emulator, so faults of the connection do not apply to it.',
    output: requestEntry,
    handle: ({ sandbox, params: { request_id } }) => {
      const timing: RequestTiming = { began: elapsedTime(), took: undefined, onOver: undefined }
      perform(sandbox, { ...callAgain(sandbox, request_id), timing })
      timing.took = elapsedTime() - timing.began
      timing.onOver?.()
      return { body: entryOf(sandbox, sandbox.log.entries().at(-1) as LogEntry) }
    },
  }),
] as const

/** The entries that match, and the newest `limit` of them. */
async function search(
  host: ControlHost,
  chosen: Sandbox,
  { sandbox: name, since, before, limit = USUAL, stable: _, ...match }: z.output<ReturnType<typeof filters>>,
) {
  // A search must not create a sandbox.
  const sandbox = name === undefined ? chosen : (await host.sandboxes.find(name)).sandbox
  refuseUnknownOperation(sandbox, match.operation)
  const range = entriesBefore(entriesSince(sandbox, since, '/query/since'), before)
  const found = range.filter((entry) => matches(match, entry))
  return { sandbox, found, newest: found.slice(-limit) }
}

/** A request of the log as a call. Refuses a request that the log has not kept completely. */
function callAgain(sandbox: Sandbox, id: string): Call {
  const entry =
    sandbox.log.find(id) ??
    refuse('not_found', {
      detail: `The request ${id} is not in the log.`,
      mitigation: '"workspace-emulator requests" lists the requests in the log.',
    })
  const operation = entry.added ?? sandbox.service.operations.get(entry.operation ?? '')
  if (operation === undefined) return refuseResend(id, 'it matches no route')
  if (entry.caller === undefined) return refuseResend(id, 'it had no known key')
  const { method, path, pathPrefix, chosenBy, params, query, headers, body } = entry
  if (body.kind === 'large' || body.kind === 'refused')
    return refuseResend(id, 'the log does not have its body')
  const again: CallBody = body.kind === 'json' ? { kind: 'json', value: body.value } : body
  const { key_id: keyId } = entry.caller
  return { operation, method, path, pathPrefix, chosenBy, params, query, headers, body: again, keyId }
}

function refuseResend(id: string, reason: string): never {
  return refuse('conflict', {
    detail: sentence(`The request ${id} cannot be sent again: ${reason}`),
    mitigation: 'Send it with the client that sent it first.',
  })
}

function refuseUnknownOperation({ service }: Sandbox, name: string | undefined): void {
  if (name === undefined || service.operations.has(name) || service.mayName?.(name)) return
  const hint = didYouMean(name, [...service.operations.keys()])
  refuseInvalid([{ pointer: '/query/operation', detail: `There is no operation "${name}".${hint}` }])
}
