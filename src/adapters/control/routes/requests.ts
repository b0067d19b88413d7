import * as z from 'zod'
import { didYouMean } from '../../../core/assumptions.ts'
import { refuse, refuseInvalid } from '../../../core/errors.ts'
import { type InputOf, list, listOf, queryInt, queryText, type ShapeOf } from '../../../core/fields.ts'
import type { LogEntry } from '../../../core/log/request-log.ts'
import { matches, STATUS_PATTERN } from '../../../core/log/request-match.ts'
import type { Call, CallBody } from '../../../core/request/exchange.ts'
import { perform } from '../../../core/request/pipeline.ts'
import type { Sandbox } from '../../../core/sandboxes/sandbox.ts'
import { elapsedTime } from '../../../core/time/clock.ts'
import { entriesBefore, entriesSince, entryOf, requestEntry } from '../request-entry.ts'
import { noBody, route } from '../route.ts'

/** How many entries a list holds when nobody asks for another number. */
const USUAL = 100

const loggedRequests = () =>
  z
    .strictObject({
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
      /** The id of a request: those before it. */
      before: queryText().optional(),
      since: queryText().optional(),
      limit: queryInt(1, 100_000).optional(),
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

export type RequestList = ShapeOf<typeof requestList>

/** The log of API requests. */
export const requestRoutes = [
  route({
    name: 'requests.list',
    method: 'GET',
    path: '/requests',
    summary: `List the newest API requests (${USUAL} unless limit says otherwise), in order of arrival`,
    answers: 'The entries, how many the log can hold, and how many it has dropped.',
    input: () => ({ query: loggedRequests() }),
    output: requestList,
    handle: async ({
      host,
      sandbox: chosen,
      query: { sandbox: name, since, before, limit = USUAL, full, ...match },
    }) => {
      // Looking must not make a sandbox that nobody has used.
      const sandbox = name === undefined ? chosen : (await host.sandboxes.find(name)).sandbox
      refuseUnknownOperation(sandbox, match.operation)
      const range = entriesBefore(entriesSince(sandbox, since, '/query/since'), before)
      const found = range.filter((entry) => matches(match, entry))
      return {
        body: {
          ...list(found.slice(-limit).map((entry) => entryOf(sandbox, entry, full === 'true'))),
          matched: found.length,
          capacity: sandbox.log.capacity,
          dropped: sandbox.log.dropped,
        },
      }
    },
  }),
  route({
    name: 'requests.clear',
    method: 'DELETE',
    path: '/requests',
    summary: 'Empty the log of API requests',
    answers: 'Nothing.',
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
    answers:
      'The entry of the new request. It runs inside of the emulator, so that faults of the connection do not act on it.',
    output: requestEntry,
    handle: async ({ sandbox, params: { request_id } }) => {
      const began = elapsedTime()
      const { durable, kept } = perform(sandbox, callAgain(sandbox, request_id))
      await durable
      if (kept !== undefined) kept.took = elapsedTime() - began
      return { body: entryOf(sandbox, sandbox.log.entries().at(-1) as LogEntry) }
    },
  }),
] as const

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
