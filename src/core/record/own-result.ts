import * as z from 'zod'
import { catalog, type ErrorCode, Refusal } from '../errors.ts'
import type { ShapeOf } from '../fields.ts'
import type { AnyOperation, Reply } from '../operation.ts'
import type { Change, Row } from '../state/commit.ts'
import { json } from '../strict-input.ts'

/** What one call of an endpoint of the user has done. */
export interface OwnResult {
  /** Id of its request. */
  readonly request: string
  readonly operation: AnyOperation
  /** Of its handler; empty when it was refused. */
  readonly changes: readonly Change[]
  readonly assumed: readonly string[]
  /** One of these. */
  readonly reply?: Reply | undefined
  readonly refusal?: Refusal | undefined
}

/** The endpoints of the user in a recording. */
export const recordedEndpoints = () =>
  z.strictObject({
    /** SHA-256 of each file by its path in the folder. Empty when they were given in code, or have changed meanwhile. */
    files: z.record(z.string(), z.string()),
    operations: z.array(
      z.strictObject({
        name: z.string(),
        method: z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']),
        path: z.string(),
        place: z.string(),
        errorFormat: z.enum(['standard', 'problem']),
        success: z.int(),
        idempotent: z.literal(true).exactOptional(),
        auth: z.literal(false).exactOptional(),
        accept: z.literal('bytes').exactOptional(),
        bodyLimit: z.int().exactOptional(),
      }),
    ),
    results: z.array(recordedResult()),
  })

export type RecordedEndpoints = ShapeOf<typeof recordedEndpoints>

const recordedResult = () =>
  z.strictObject({
    request: z.string(),
    /** `after` is null for a deleted record. */
    changes: z.array(z.strictObject({ table: z.string(), id: z.string(), after: json() })),
    assumed: z.array(z.string()),
    reply: z
      .looseObject({
        /** In base64, as are the parts of a stream. */
        bytes: z.string().exactOptional(),
        stream: z
          .looseObject({ parts: z.array(z.strictObject({ after: z.int(), bytes: z.string() })) })
          .exactOptional(),
      })
      .exactOptional(),
    refusal: z
      .strictObject({ code: z.string(), options: z.looseObject({ detail: z.string() }) })
      .exactOptional(),
  })

type RecordedResult = ShapeOf<typeof recordedResult>

const KEPT = [
  ...(['name', 'method', 'path', 'place', 'errorFormat', 'success'] as const),
  ...(['idempotent', 'auth', 'accept', 'bodyLimit'] as const),
]

/** An operation as a recording has it. */
export function recordedOperation(operation: AnyOperation): RecordedEndpoints['operations'][number] {
  const facts = KEPT.flatMap((name) => (operation[name] === undefined ? [] : [[name, operation[name]]]))
  return Object.fromEntries(facts)
}

/** A result as a recording has it, as JSON. */
export function recordedResultOf({ operation: _, changes, reply, refusal, ...rest }: OwnResult) {
  const { bytes, stream, ...plain } = reply ?? {}
  const text = (each: Buffer): string => each.toString('base64')
  const parts = stream?.parts.map((part) => ({ ...part, bytes: text(part.bytes) }))
  return {
    ...rest,
    changes: changes.map(({ table, id, after = null }) => ({ table, id, after })),
    ...(reply && {
      reply: {
        ...plain,
        ...(bytes && { bytes: text(bytes) }),
        ...(stream && { stream: { ...stream, parts } }),
      },
    }),
    ...(refusal && {
      refusal: {
        code: refusal.code,
        options: { ...refusal.options, admission: undefined, assumed: undefined },
      },
    }),
  }
}

/** The reply of a recorded result, whose changes it writes. Throws its refusal. */
export function repeated(
  { changes, assumed, reply, refusal }: RecordedResult,
  { tx, note }: Parameters<AnyOperation['handle']>[0],
): Reply {
  for (const item of assumed) note(item)
  if (refusal !== undefined)
    throw new Refusal(
      (Object.hasOwn(catalog, refusal.code) ? refusal.code : 'internal_error') as ErrorCode,
      refusal.options,
    )
  for (const { table, id, after } of changes)
    if (after === null) tx.delete(table, id)
    else tx.put(table, { ...(after as object), id } as Row)
  const { bytes, stream, ...plain } = reply ?? {}
  const parts = stream?.parts.map((part) => ({ ...part, bytes: Buffer.from(part.bytes, 'base64') }))
  return {
    ...plain,
    ...(bytes !== undefined && { bytes: Buffer.from(bytes, 'base64') }),
    ...(stream && { stream: { ...stream, parts } }),
  } as object
}
