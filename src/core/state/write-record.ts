import { didYouMean } from '../did-you-mean.ts'
import { refuse, refuseInvalid } from '../errors.ts'
import { IssueList } from '../issue-list.ts'
import { type Issue, isObject } from '../json.ts'
import type { Scope } from '../operation.ts'
import { refuseUnknown } from '../refuse-unknown.ts'
import type { Sandbox } from '../sandboxes/sandbox.ts'
import { armRecord } from '../service.ts'
import { type AnyCollection, collectionFor, OWN_NAME } from './collection.ts'
import type { Row } from './commit.ts'
import { acceptRecord, brokenRecords } from './intake.ts'
import { unmaskedRows } from './masked.ts'
import { Transaction } from './transaction.ts'

/**
 * The collection with a name: of the service, or of the user. Refuses an unknown name with `not_found` and suggests the most
 * similar one.
 */
export function collectionOf(
  { service: { collections, mayName }, store }: Pick<Sandbox, 'service' | 'store'>,
  name: string,
): AnyCollection {
  const isOwn =
    store.rows(name).size > 0 || (mayName?.(name) && didYouMean(name, [...collections.keys()]) === '')
  if (collections.has(name) || (isOwn && OWN_NAME.test(name))) return collectionFor(collections, name)
  const fix = '"workspace-emulator state" lists every collection.'
  return refuseUnknown('collection', name, [...collections.keys(), ...store.own(collections)], fix)
}

/**
 * Writes a record from outside the API and schedules its events. Refuses a record that breaks a rule of its collection, or
 * after which a reference names a missing record.
 * @param explain changes the text of an issue; default: unchanged
 */
export function writeRecord(
  sandbox: Sandbox,
  scope: Scope,
  written: { readonly collection: AnyCollection; readonly id: string; readonly record: unknown },
  explain = (issue: Issue) => issue,
): Row {
  const { collection, id, record } = written
  const issues = new IssueList()
  const [whole] = unmaskedRows(collection.name, [record], (known) => scope.tx.get(collection.name, known))
  const row = acceptRecord(collection, whole, scope.settings, '', issues)
  if (isObject(record) && record.id !== id) {
    issues.push({ pointer: '/id', detail: `must equal the id in the path, "${id}"` })
  }
  refuseInvalid(issues.map(explain))
  const accepted = row as Row // without a row there are issues, refused above
  scope.tx.put(collection.name, accepted)
  armRecord(sandbox.service, scope, collection.name, accepted)
  refuseInvalid(
    brokenBy(sandbox, scope.tx).map(({ ref, ...issue }) =>
      ref === `${collection.name}/${id}`
        ? issue
        : { pointer: '', detail: `would make ${ref} invalid (${issue.pointer}: ${issue.detail})` },
    ),
  )
  return accepted
}

/** Deletes a record and the future events about it. Refuses when there is no such record, or when another one needs it. */
export function deleteRecord(
  sandbox: Sandbox,
  { tx, unschedule }: Scope,
  { name, label }: AnyCollection,
  id: string,
): void {
  tx.in({ name, label }).require(id)
  tx.delete(name, id)
  const ref = `${name}/${id}`
  unschedule(ref, [...sandbox.service.events.keys()])
  const refs = [...new Set(brokenBy(sandbox, tx).map((broken) => broken.ref))]
  if (refs.length === 0) return
  const named = refs.slice(0, MAX_NAMED)
  const more = refs.length > named.length ? ` and ${refs.length - named.length} more` : ''
  refuse('conflict', {
    detail: `${ref} is needed by ${named.join(', ')}${more}.`,
    mitigation: 'Delete those records first, or change them to refer to another record.',
    details: { needed_by: named },
  })
}

/** A broken rule between a record and the others. */
interface BrokenRecord extends Issue {
  /** `collection/id` of the record; the pointer leads into it. */
  readonly ref: string
}

/** The maximum number of records that a refusal names. */
const MAX_NAMED = 10

/** The rules that hold now and that a commit of the transaction would break. */
export function brokenBy({ service }: Pick<Sandbox, 'service'>, tx: Transaction): BrokenRecord[] {
  const broken = (tx: Transaction) =>
    [...brokenRecords(service, tx)].flatMap(({ table, row, issues }) =>
      issues.map((issue) => ({ ...issue, ref: `${table}/${row.id}` })),
    )
  const after = broken(tx)
  if (after.length === 0) return after
  const before = new Set(broken(new Transaction(tx.store)).map(fingerprint))
  return after.filter((each) => !before.has(fingerprint(each)))
}

function fingerprint({ ref, pointer, detail }: BrokenRecord): string {
  return JSON.stringify([ref, pointer, detail])
}
