import { z } from 'zod'

/**
 * What the connection of a request shows of its client, filled in by the adapter of the request. All `_ms` are real: milliseconds
 * since the emulator's process began.
 */
export const evidenceTrace = () =>
  z.strictObject({
    /** When the head of the request was complete. */
    arrived_ms: z.number(),
    /** Shared by all requests on the connection. */
    connection: z.strictObject({
      id: z.string(),
      /** Number of its requests so far, to the control interface too. */
      requests: z.int(),
      opened_ms: z.number(),
      /** Null while it is open. */
      closed_ms: z.number().nullable(),
      /** Who closed it first. */
      closed_by: z.enum(['client', 'emulator']).nullable(),
    }),
    /** Number of requests on the connection before this one. */
    requests_before: z.int(),
    /** Milliseconds since the response before it on the connection ended; 0 for a pipelined request, null for the first one. */
    idle_before_ms: z.number().nullable(),
    /** The body as it arrived, before content decoding. Null without one, and for one that was not read to its end. */
    body: z.strictObject({ bytes: z.int(), sha256: z.string() }).nullable(),
    /** `whole`, `cut` or `held` by a fault, or `left` by the client before it was whole; null until then. */
    end: z.enum(['whole', 'cut', 'held', 'left']).nullable(),
    /** When it ended. For `held`: when the connection was closed. */
    ended_ms: z.number().nullable(),
    /** Bytes of the response, its head included, that were handed to the connection; null until it has ended. */
    sent_bytes: z.int().nullable(),
  })

export type Evidence = z.output<ReturnType<typeof evidenceTrace>>

export type ClientConnection = Evidence['connection']
