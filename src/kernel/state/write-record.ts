import { didYouMean } from '../assumptions.ts'
import { refuse, refuseInvalid } from '../errors.ts'
import { type Issue, isObject } from '../json.ts'
import { armRecord, type Scope } from '../operation.ts'
import { SCHEDULE, type ScheduledEvent } from '../time/scheduler.ts'
import type { World } from '../worlds/world.ts'
import type { AnyCollection } from './collection.ts'
import type { Row } from './commit.ts'
import { acceptRecord } from './intake.ts'
import { refuseBrokenDelete, refuseBrokenWrite } from './references.ts'
import type { Transaction } from './store.ts'

/** The collection of a name, or a refusal that tells the nearest. */
export function collectionOf(
  { service: { collections } }: Pick<World, 'service'>,
  name: string,
): AnyCollection {
  return (
    collections.get(name) ??
    refuse('not_found', {
      detail: `There is no collection "${name}".${didYouMean(name, [...collections.keys()])}`,
      mitigation: 'GET /__emulator/state shows every collection.',
    })
  )
}

/**
 * Puts a record of somebody outside the API into the world, and what it calls for into the schedule. Refuses one that breaks
 * a rule of its collection or leaves a reference that leads nowhere.
 * @param explain what to say of an issue instead
 */
export function writeRecord(
  world: World,
  scope: Scope,
  {
    collection,
    id,
    record,
  }: { readonly collection: AnyCollection; readonly id: string; readonly record: unknown },
  explain: (issue: Issue) => Issue = (issue) => issue,
): Row {
  const issues: Issue[] = []
  const row = acceptRecord(collection, record, scope.settings, '', issues)
  if (isObject(record) && record.id !== id) {
    issues.push({ pointer: '/id', detail: `must equal the id in the path, "${id}"` })
  }
  refuseInvalid(issues.map(explain))
  const accepted = row as Row // without a row there was an issue
  scope.tx.put(collection.name, accepted)
  armRecord(world.service, scope, collection.name, accepted)
  refuseBrokenWrite(world, scope.tx, `${collection.name}/${id}`)
  return accepted
}

/** Takes a record out of the world, and the future events about it. Refuses where there is none, or another needs it. */
export function deleteRecord(world: World, { tx }: Scope, { name, label }: AnyCollection, id: string): void {
  tx.in({ name, label }).require(id)
  tx.delete(name, id)
  forgetEvents(tx, `${name}/${id}`)
  refuseBrokenDelete(world, tx, `${name}/${id}`)
}

function forgetEvents(tx: Transaction, ref: string): void {
  for (const event of tx.rows(SCHEDULE)) {
    if ((event as ScheduledEvent).ref === ref) tx.delete(SCHEDULE, event.id)
  }
}
