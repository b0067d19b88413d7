import { z } from 'zod'
import type { AnySetting, Reliance } from '../core/assumptions.ts'
import { emptyPatch, immutableMembers } from '../core/core-assumptions.ts'
import { refuse, refuseInvalid } from '../core/errors.ts'
import { text, timestamp } from '../core/fields.ts'
import { type Issue, pointer } from '../core/json.ts'
import type { Finder, Request } from '../core/operation.ts'
import type { Caller } from '../core/request/auth.ts'
import { seal } from '../core/secrets.ts'
import type { Row } from '../core/state/commit.ts'
import type { TableOf, TableRecords, Transaction } from '../core/state/transaction.ts'

/** An issue for the field at `at` if the sandbox does not have the record that it names; otherwise none. */
export function missing<T extends Row>(
  tx: Transaction,
  table: TableOf<T>,
  id: unknown,
  ...at: readonly string[]
): readonly Issue[] {
  if (tx.in(table).get(String(id)) !== undefined) return []
  return [{ pointer: pointer(...at), detail: `there is no ${table.label} with the id "${id}"` }]
}

/**
 * A check for a collection: the field at this path names a record of another one.
 * @example
 * check: refersTo(teamspaces, '_emulator', 'teamspace_id')
 */
export function refersTo<T extends Row>(table: TableOf<T>, ...path: readonly string[]) {
  return (record: object, tx: Transaction): readonly Issue[] => {
    const id = path.reduce<unknown>((value, key) => (value as Record<string, unknown>)[key], record)
    return missing(tx, table, id, ...path)
  }
}

/**
 * The record with this id, if the caller may see it; otherwise `not_found`. A record that does not exist and one of another
 * teamspace get the same message, so that the response does not reveal which is the case (U023).
 */
export function requireVisible<T extends Row>(
  tx: Transaction,
  table: TableOf<T>,
  id: string | undefined,
  isVisible: (record: T) => boolean,
): T {
  const record = id === undefined ? undefined : tx.in(table).get(id)
  if (record !== undefined && isVisible(record)) return record
  return refuse('not_found', { detail: `There is no ${table.label} with the id "${id ?? ''}".` })
}

/** A record that belongs to one teamspace. */
interface Owned extends Row {
  readonly _emulator: { readonly teamspace_id: string }
}

/** The record with this id, if it belongs to the caller's teamspace; otherwise `not_found`. */
export function requireOwn<T extends Owned>(
  { tx, caller }: Pick<Finder, 'tx' | 'caller'>,
  table: TableOf<T>,
  id: string | undefined,
): T {
  return requireVisible(tx, table, id, (record) => isOwn(caller, record))
}

/** Whether a record belongs to the caller's teamspace. */
export function isOwn(caller: Caller, { _emulator }: Owned): boolean {
  return _emulator.teamspace_id === caller.teamspace_id
}

/**
 * A name in a record: one of ours, or the one that settings give clients in its place. Ours is kept, so that a change of
 * settings breaks no sandbox.
 * @param given the names in the settings, in the same order
 */
export function recordedName<T extends string>(
  ours: readonly T[],
  given: readonly string[],
  hint = '',
): z.ZodType<T> {
  const read = (name: string) => ours.find((each) => each === name) ?? ours[given.indexOf(name)]
  return z
    .string()
    .refine((name) => read(name) !== undefined, {
      error: `must be one of ${[...new Set([...ours, ...given])].join(', ')}${hint}`,
    })
    .transform((name) => read(name) as T) // the refinement has let no other name pass
}

/**
 * A string that is one of the names in settings, because the specification shows none. The error message names the settings,
 * because a client that sends a name of the real service needs them.
 */
export function oneOfNames(
  names: readonly string[],
  ...settings: readonly [AnySetting, ...AnySetting[]]
): z.ZodType<string> {
  const known = names.map((name) => JSON.stringify(name)).join(', ')
  const keys = settings.map(({ key }) => key).join(', ')
  return z
    .string()
    .refine((value) => names.includes(value), {
      error: `must be one of ${known}; the settings ${keys} give other names`,
      params: { assumed: [settings[0].item, ...settings] satisfies Reliance },
    })
    .meta({ enum: [...names] })
}

export type Assume = Request<object, unknown>['assume']

/** Refuses a PATCH that gives a field another value, which cannot change, unless a setting lets it ignore the field. */
export function keepField(
  name: string,
  given: unknown,
  present: string,
  { assume, detail }: { readonly assume: Assume; readonly detail: string },
): void {
  if (assume(immutableMembers) === 'ignore' || given === present) return
  refuseInvalid([{ pointer: pointer(name), detail }])
}

/** Refuses a PATCH without a known field, if a setting requires one. */
export function refuseEmpty(assume: Assume, detail: string): void {
  if (assume(emptyPatch) === 'reject') refuseInvalid([{ pointer: '', detail }])
}

/**
 * The digest of a secret that a client sends, as the sandbox keeps it; undefined for a value that cannot be a secret. A digest
 * from the state file must not be accepted as a secret: `seal` returns it unchanged.
 */
export function presentedSecret(given: string): string | undefined {
  const sealed = seal(given)
  return sealed === given ? undefined : sealed
}

/** A new secret that no record has: imported records may have digests of secrets that this sandbox would create next. */
export function unusedSecret<T extends Row>(
  make: () => string,
  records: TableRecords<T>,
  digestOf: (record: T) => string,
): string {
  for (;;) {
    const secret = make()
    const digest = seal(secret)
    if (records.find((each) => digestOf(each) === digest) === undefined) return secret
  }
}

/** Fields of a record with a consent page: the digest of the nonce in its URL, and the time of the decision. */
export const consentFields = () => ({
  /** The nonce of its consent page; null: it has no page. */
  nonce: text(512).nullable().default(null),
  decided_at: timestamp().nullable().default(null),
})

type ConsentRecord = Row & z.output<z.ZodObject<ReturnType<typeof consentFields>>>

/** The record with the nonce of a consent page. Refuses an unknown nonce, and a record that is already decided. */
export function requirePending<T extends ConsentRecord>(records: TableRecords<T>, nonce: string): T {
  const digest = presentedSecret(nonce)
  const record = records.find((each) => each.nonce !== null && each.nonce === digest)
  if (record === undefined) {
    refuse('not_found', {
      detail:
        'No flow has this address. It may be a flow of another sandbox, or a flow that a reset has removed.',
      mitigation: 'Start another flow, and open the address that its response shows.',
    })
  }
  if (record.decided_at === null) return record
  return refuse('conflict', {
    detail: `This flow was decided at ${record.decided_at}, and a flow can be decided only once.`,
    mitigation: 'Start another flow.',
    status: 410,
  })
}
