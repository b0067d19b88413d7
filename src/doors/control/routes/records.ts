import { anyObject } from '../../../kernel/fields.ts'
import { type Issue, isObject, type Json } from '../../../kernel/json.ts'
import { mergePatch } from '../../../kernel/merge-patch.ts'
import type { Row } from '../../../kernel/state/commit.ts'
import { collectionOf, deleteRecord, writeRecord } from '../../../kernel/state/write-record.ts'
import { REQUIRED } from '../../../kernel/zod-issues.ts'
import { route, WORLD_BODY } from '../route.ts'

/** Single records of every collection, whatever the API itself can do with them. */
export const recordRoutes = [
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
        const record = { id: params.id, ...body }
        return { status, body: writeRecord(sandbox, scope, { collection, id: params.id, record }) }
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
        const record = mergePatch(before as unknown as Json, patch)
        const written = { collection, id: params.id, record }
        return { body: writeRecord(sandbox, scope, written, (issue) => explainRemoval(issue, patch)) }
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
      const collection = collectionOf(sandbox, params.collection)
      sandbox.change((scope) => deleteRecord(sandbox, scope, collection, params.id))
      return { status: 204 }
    },
  }),
] as const

// A merge patch cannot say null: whoever tries has removed the member instead, and is told of the other way.
function explainRemoval(issue: Issue, patch: Json): Issue {
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
