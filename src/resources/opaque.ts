import * as z from 'zod'
import type { Settings } from '../kernel/assumptions.ts'
import { refuse } from '../kernel/errors.ts'
import { anyObject, nonEmptyText } from '../kernel/fields.ts'
import type { Request } from '../kernel/operation.ts'
import { listOrder, ordered } from '../kernel/request/pagination.ts'
import type { Row } from '../kernel/state/commit.ts'
import { shown } from '../kernel/state/state.ts'
import { formatInstant, parseInstant } from '../kernel/time/instant.ts'

/** A record whose members the specification does not show: an id, the facts that behaviour needs, and whatever was given. */
export interface OpaqueRecord<Facts> extends Row {
  readonly [member: string]: unknown
  readonly _emulator: Facts
}

/**
 * The schema of a collection of opaque records: `id` and `_emulator` are checked, every other member is kept as it came.
 * A loose object of zod would lose a member named `__proto__`.
 */
export function opaqueRecord<Facts>(facts: z.ZodType<Facts>): z.ZodType<OpaqueRecord<Facts>> {
  const known = z.object({ id: nonEmptyText(), _emulator: facts })
  return anyObject().transform((given, context) => {
    const result = known.safeParse(given)
    if (result.success) return { ...given, ...result.data } as OpaqueRecord<Facts>
    // The issues keep their codes, which the messages for users are made from.
    for (const issue of result.error.issues)
      context.issues.push({ ...issue, input: given } as z.core.$ZodRawIssue)
    return z.NEVER
  })
}

/** What the operations without a contract have in common. */
export const uncontracted = {
  section: 'Endpoints named without a contract',
  dialect: 'standard',
  contract: false,
} as const

/** The answer of an operation that passes a record through. */
export const opaqueAnswer = () => z.looseObject({ id: z.string() })

/** The answer of an operation that passes a list of records through. */
export const opaqueListAnswer = () =>
  z.strictObject({ object: z.literal('list'), data: z.array(opaqueAnswer()), has_more: z.literal(false) })

/**
 * Refuses an operation that the specification names without a contract: 501 `emulator_contract_unspecified`.
 * Specification: Endpoints named without a contract.
 */
export function refuseUncontracted(operation: string): never {
  return refuse('emulator_contract_unspecified', {
    detail: `${operation} exists, but the specification shows no contract for it, and the emulator invents none.`,
    mitigation:
      'Say what it answers: POST /__emulator/stubs {"method", "path", "status", "body"}, or "stubs" of a scenario or of the fixtures. GET /__emulator/operations says which operations have a contract.',
    assumed: ['U043'],
  })
}

/** Refuses as {@link refuseUncontracted} does, under `--strict` only. Belongs first into `find`. */
export function refuseStrict(settings: Settings, operation: string): void {
  if (!settings.strict) return
  refuse('emulator_contract_unspecified', {
    detail: `The specification shows no contract for ${operation}, and under --strict the emulator answers nothing for it.`,
    mitigation:
      'Start the emulator without --strict: a stub then answers if there is one, and records are passed through as they were given.',
    assumed: ['U043'],
  })
}

/**
 * The body of a list that the specification shows no parameters for: every record, in the order of lists, so that no more
 * can follow. Specification: Conventions.
 */
export function opaqueList<T extends Row>(
  records: readonly T[],
  { assume, note, seed }: Pick<Request<object, unknown>, 'assume' | 'note' | 'seed'>,
): object {
  note('U043')
  const keyed = records.map((record) => ({ id: record.id, created_at: creationOf(record), record }))
  const data = ordered(keyed, assume(listOrder), seed).map(({ record }) => shown(record))
  return { object: 'list', data, has_more: false }
}

// A created_at of the client's making may be anything. Whatever names no instant counts as older than what does.
function creationOf(record: Row): string {
  const { created_at } = record as { readonly created_at?: unknown }
  return formatInstant((typeof created_at === 'string' && parseInstant(created_at)?.ms) || 0)
}

/** What a client gave for a new record, as it came, under our id and facts. */
export function opaqueNew<Facts>(given: object, id: string, facts: Facts): OpaqueRecord<Facts> {
  return { ...given, id, _emulator: facts }
}

/** A record with the members that a client gave; its id and facts stay. */
export function opaqueUpdate<Facts>(record: OpaqueRecord<Facts>, given: object): OpaqueRecord<Facts> {
  return { ...record, ...given, id: record.id, _emulator: record._emulator }
}
