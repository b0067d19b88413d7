import { z } from 'zod'
import type { ErrorCode } from '../error-kinds.ts'
import { Refusal } from '../errors.ts'
import type { ShapeOf } from '../fields.ts'
import type { Json } from '../json.ts'
import type { AnyOperation, Reply, Request } from '../operation.ts'
import type { Row } from '../state/commit.ts'
import { json } from '../strict-input.ts'

/** What one call of an endpoint of the user has returned and changed. */
const ownResult = () =>
  z.strictObject({
    /** Id of its request. */
    request: z.string(),
    assumed: z.array(z.string()),
    /** `after` is null for a deleted record. */
    changes: z.array(z.strictObject({ table: z.string(), id: z.string(), after: json() })),
    /** Bytes are in base64. Absent when it was refused. */
    reply: z.looseObject({ bytes: z.string().exactOptional() }).exactOptional(),
    parts: z.array(z.strictObject({ after: z.int(), bytes: z.string() })).exactOptional(),
    refusal: z.looseObject({ detail: z.string() }).exactOptional(),
  })

export type OwnResult = ShapeOf<typeof ownResult>

const FACTS = [
  ...(['name', 'method', 'path', 'place', 'errorFormat', 'success'] as const),
  ...(['idempotent', 'auth', 'accept', 'bodyLimit'] as const),
]

type OperationFacts = Omit<Pick<AnyOperation, (typeof FACTS)[number]>, 'success'> & {
  readonly success: number
}

const operationFacts = () =>
  z.looseObject({ name: z.string(), method: z.string(), path: z.string().startsWith('/') })

/** The endpoints of the user in a recording. */
export const recordedEndpoints = () =>
  z.strictObject({
    /** SHA-256 of each file by its path in the folder. Empty when they were given in code, or have changed meanwhile. */
    files: z.record(z.string(), z.string()),
    operations: z.array(operationFacts() as z.ZodType<unknown> as z.ZodType<OperationFacts>),
    results: z.array(ownResult()),
  })

export type RecordedEndpoints = ShapeOf<typeof recordedEndpoints>

/** The facts about an operation that a recording has. */
export function recordedFacts(operation: AnyOperation): OperationFacts {
  return Object.fromEntries(
    FACTS.flatMap((name) => (operation[name] === undefined ? [] : [[name, operation[name]]])),
  ) as never
}

interface Ended extends Pick<Request<object, unknown>, 'cause' | 'tx'> {
  readonly reply: Reply | undefined
  readonly refusal: Refusal | undefined
  readonly assumed: ReadonlySet<string>
}

/** The result of a request whose handler has ended, or that was refused. */
export function resultOf({ cause: request, tx, reply, refusal, assumed }: Ended): OwnResult {
  const { bytes, stream, ...plain } = reply ?? {}
  const { code, options } = refusal ?? {}
  const changes = refusal === undefined ? tx.changes() : []
  return {
    request,
    assumed: [...assumed],
    changes: changes.map(({ table, id, after = null }) => ({ table, id, after: after as Json })),
    reply: {
      type: stream?.type,
      clock: stream?.clock,
      ...plain,
      ...(bytes && { bytes: bytes.toString('base64') }),
    },
    ...(stream && { parts: stream.parts.map((part) => ({ ...part, bytes: part.bytes.toString('base64') })) }),
    ...(options && { refusal: { ...options, code, admission: undefined, assumed: undefined } }),
  }
}

/** Gives a result again: writes its changes and returns its reply, or throws its refusal. */
export function repeated(
  { changes, assumed, reply: { bytes, clock, ...reply } = {}, parts, refusal }: OwnResult,
  { tx, note }: Pick<Request<object, unknown>, 'tx' | 'note'>,
): Reply {
  for (const item of assumed) note(item)
  if (refusal !== undefined) throw new Refusal(refusal.code as ErrorCode, refusal)
  for (const { table, id, after } of changes)
    if (after === null) tx.delete(table, id)
    else tx.put(table, { ...(after as object), id } as Row)
  const whole = parts?.map((part) => ({ ...part, bytes: Buffer.from(part.bytes, 'base64') }))
  return {
    ...reply,
    ...(bytes !== undefined && { bytes: Buffer.from(bytes, 'base64') }),
    ...(whole && { stream: { parts: whole, clock, type: reply.type } as Reply['stream'] }),
  } as Reply
}
