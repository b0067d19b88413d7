import { didYouMean } from '../../../kernel/assumptions.ts'
import { refuse, refuseInvalid } from '../../../kernel/errors.ts'
import { anyObject } from '../../../kernel/fields.ts'
import { type Issue, isObject, type Json } from '../../../kernel/json.ts'
import { armRecord, type Scope } from '../../../kernel/operation.ts'
import type { AnyCollection } from '../../../kernel/state/collection.ts'
import type { Row } from '../../../kernel/state/commit.ts'
import { acceptRecord } from '../../../kernel/state/intake.ts'
import type { Transaction } from '../../../kernel/state/store.ts'
import { SCHEDULE, type ScheduledEvent } from '../../../kernel/time/scheduler.ts'
import type { Sandbox } from '../../../kernel/worlds/sandbox.ts'
import { REQUIRED } from '../../../kernel/zod-issues.ts'
import { mergePatch } from '../merge-patch.ts'
import { refuseBrokenDelete, refuseBrokenWrite } from '../references.ts'
import { type AnyRoute, route, WORLD_BODY } from '../route.ts'

/** Single records of every collection, whatever the API itself can do with them. */
export const recordRoutes: readonly AnyRoute[] = [
  route({
    name: 'records.list',
    method: 'GET',
    path: '/state/{collection}',
    summary: 'List the records of a collection',
    answers: 'All records, as they are stored.',
    handle: ({ sandbox, params }) => {
      const { name } = collectionOf(sandbox, params.collection)
      return { body: { object: 'list', data: [...sandbox.store.rows(name).values()] } }
    },
  }),
  route({
    name: 'records.show',
    method: 'GET',
    path: '/state/{collection}/{id}',
    summary: 'Show one record',
    answers: 'The record, as it is stored.',
    handle: ({ sandbox, params }) => {
      const collection = collectionOf(sandbox, params.collection)
      return { body: sandbox.store.begin().in(collection).require(params.id) as Row }
    },
  }),
  route({
    name: 'records.put',
    method: 'PUT',
    path: '/state/{collection}/{id}',
    summary: 'Write one record whole',
    answers: 'The record, as it is stored: 201 when it is new.',
    success: [200, 201],
    bounds: WORLD_BODY,
    body: anyObject,
    handle: ({ sandbox, params, body }) => {
      const collection = collectionOf(sandbox, params.collection)
      const { result } = sandbox.change((scope) => {
        const status = scope.tx.get(collection.name, params.id) === undefined ? 201 : 200
        return { status, body: write(sandbox, scope, collection, { id: params.id, ...body }, params.id) }
      })
      return result
    },
  }),
  route({
    name: 'records.patch',
    method: 'PATCH',
    path: '/state/{collection}/{id}',
    summary: 'Change members of one record by a merge patch (RFC 7396): null removes a member',
    answers: 'The record, as it is stored.',
    bounds: WORLD_BODY,
    body: anyObject,
    handle: ({ sandbox, params, body }) => {
      const collection = collectionOf(sandbox, params.collection)
      const { result } = sandbox.change((scope) => {
        const before = scope.tx.in(collection).require(params.id) as Row
        const patch = body as Json
        const after = mergePatch(before as unknown as Json, patch)
        return { body: write(sandbox, scope, collection, after, params.id, patch) }
      })
      return result
    },
  }),
  route({
    name: 'records.delete',
    method: 'DELETE',
    path: '/state/{collection}/{id}',
    summary: 'Delete one record, and the future events about it',
    answers: 'Nothing.',
    success: [204],
    handle: ({ sandbox, params }) => {
      const { name, label } = collectionOf(sandbox, params.collection)
      sandbox.change(({ tx }) => {
        tx.in({ name, label }).require(params.id)
        tx.delete(name, params.id)
        forgetEvents(tx, `${name}/${params.id}`)
        refuseBrokenDelete(sandbox, tx, `${name}/${params.id}`)
      })
      return { status: 204 }
    },
  }),
]

function collectionOf(sandbox: Sandbox, name: string): AnyCollection {
  const { collections } = sandbox.service
  return (
    collections.get(name) ??
    refuse('not_found', {
      detail: `There is no collection "${name}".${didYouMean(name, [...collections.keys()])}`,
      mitigation: 'GET /__emulator/state shows every collection.',
    })
  )
}

// Puts a record that has passed every check of its collection and left no reference behind that leads nowhere.
function write(
  sandbox: Sandbox,
  scope: Scope,
  collection: AnyCollection,
  raw: unknown,
  id: string,
  patch?: Json,
): Row {
  const issues: Issue[] = []
  const row = acceptRecord(collection, raw, sandbox.settings, '', issues)
  if (isObject(raw) && raw.id !== id) {
    issues.push({ pointer: '/id', detail: `must equal the id in the path, "${id}"` })
  }
  refuseInvalid(issues.map((issue) => explainRemoval(issue, patch)))
  const accepted = row as Row // without a row there was an issue
  scope.tx.put(collection.name, accepted)
  armRecord(sandbox.service, scope, collection.name, accepted)
  refuseBrokenWrite(sandbox, scope.tx, `${collection.name}/${id}`)
  return accepted
}

// A merge patch cannot say null: whoever tries has removed the member instead, and is told of the other way.
function explainRemoval(issue: Issue, patch: Json | undefined): Issue {
  if (issue.detail !== REQUIRED || valueAt(patch, issue.pointer) !== null) return issue
  return { ...issue, detail: `${REQUIRED}; null in a merge patch removes it, so write a null with PUT` }
}

function valueAt(value: Json | undefined, pointer: string): Json | undefined {
  let found = value
  for (const part of pointer.split('/').slice(1)) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~')
    found = isObject(found) && Object.hasOwn(found, key) ? found[key] : undefined
  }
  return found
}

function forgetEvents(tx: Transaction, ref: string): void {
  for (const event of tx.rows(SCHEDULE)) {
    if ((event as ScheduledEvent).ref === ref) tx.delete(SCHEDULE, event.id)
  }
}
