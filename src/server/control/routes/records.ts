import { createHash } from 'node:crypto'
import { z } from 'zod'
import { refuse } from '../../../core/errors.ts'
import { anyObject, list, listOf, type ShapeOf } from '../../../core/fields.ts'
import { type Issue, type Json, mergePatch, valueAt } from '../../../core/json.ts'
import { change } from '../../../core/sandboxes/change.ts'
import { anyRow } from '../../../core/state/collection.ts'
import type { Row } from '../../../core/state/commit.ts'
import { maskedRow } from '../../../core/state/masked.ts'
import { collectionOf, deleteRecord, writeRecord } from '../../../core/state/write-record.ts'
import { REQUIRED } from '../../../core/zod-issues.ts'
import { jsonSchema } from '../openapi/parts.ts'
import { noBody, route, SANDBOX_BODY, withSecretsOrNot } from '../route.ts'

/** The collections of a sandbox. */
const collectionList = () =>
  listOf(z.strictObject({ name: z.string(), records: z.int() })).extend({
    /** Number of the last commit. */
    revision: z.int(),
  })

export type Collections = ShapeOf<typeof collectionList>

/** Single records of every collection, also those that the API cannot change. */
export const recordRoutes = [
  route('GET /collections', {
    name: 'records.collections',
    summary: 'List the collections, and how many records each has',
    returns: 'Every collection by its name, and the number of the last commit.',
    output: collectionList,
    handle: ({ sandbox }) => {
      const { collections } = sandbox.service
      const names = [...collections.keys(), ...sandbox.store.own(collections)]
      const data = names.map((name) => ({ name, records: sandbox.store.rows(name).size }))
      return { body: { ...list(data), revision: sandbox.store.revision } }
    },
  }),
  route('GET /collections/{collection}', {
    name: 'records.schema',
    summary: 'Show the JSON Schema of the records of a collection',
    returns: 'The JSON Schema of records that are accepted under the settings in force.',
    output: () => z.strictObject({ name: z.string(), label: z.string(), schema: anyObject() }),
    handle: ({ sandbox, params }) => {
      const { name, label, schema } = collectionOf(sandbox, params.collection)
      return { body: { name, label, schema: jsonSchema(schema(sandbox.settings), 'input') } }
    },
  }),
  route('GET /state/{collection}', {
    name: 'records.list',
    summary: 'List the records of a collection',
    returns:
      'All records, as they are stored; secrets that sign webhooks are masked unless ?secrets=true is given.',
    input: withSecretsOrNot,
    output: () => listOf(anyRow()),
    handle: ({ sandbox, params, query }) => {
      const { name } = collectionOf(sandbox, params.collection)
      const rows = [...sandbox.store.rows(name).values()]
      return {
        body: list(query.secrets ? rows : rows.map((row) => maskedRow(name, row))),
      }
    },
  }),
  route('GET /state/{collection}/{id}', {
    name: 'records.show',
    summary: 'Show one record',
    returns:
      'The record, as it is stored; a secret that signs webhooks is masked unless ?secrets=true is given.',
    tagged: true,
    input: withSecretsOrNot,
    output: anyRow,
    handle: ({ sandbox, params, query }) => {
      const collection = collectionOf(sandbox, params.collection)
      const row = sandbox.store.begin().in(collection).require(params.id) as Row
      return { body: query.secrets ? row : maskedRow(collection.name, row), etag: etagOf(row) }
    },
  }),
  route('PUT /state/{collection}/{id}', {
    name: 'records.put',
    summary: 'Create one record, or replace all its fields',
    returns: 'The record, as it is stored; a secret that signs webhooks is masked; 201 when it is new.',
    success: [200, 201],
    conditional: true,
    tagged: true,
    bounds: SANDBOX_BODY,
    input: () => ({ body: anyObject() }),
    output: anyRow,
    handle: ({ sandbox, params, body, ifMatch }) => {
      const collection = collectionOf(sandbox, params.collection)
      const { result } = change(sandbox, (scope) => {
        const before = scope.tx.get(collection.name, params.id)
        refuseUnlessMatched(params, before, ifMatch)
        const given = { id: params.id, ...body }
        const row = writeRecord(sandbox, scope, { collection, id: params.id, record: given })
        const status = before === undefined ? 201 : 200
        return { status, body: maskedRow(collection.name, row), etag: etagOf(row) }
      })
      return result
    },
  }),
  route('PATCH /state/{collection}/{id}', {
    name: 'records.patch',
    summary: 'Change fields of one record by a merge patch (RFC 7396): null removes a field',
    returns: 'The record, as it is stored; a secret that signs webhooks is masked.',
    conditional: true,
    tagged: true,
    bounds: SANDBOX_BODY,
    input: () => ({ body: anyObject() }),
    output: anyRow,
    handle: ({ sandbox, params, body, ifMatch }) => {
      const collection = collectionOf(sandbox, params.collection)
      const { result } = change(sandbox, (scope) => {
        const before = scope.tx.in(collection).require(params.id) as Row
        refuseUnlessMatched(params, before, ifMatch)
        const patch = body as Json
        const patched = mergePatch(before as unknown as Json, patch)
        const written = { collection, id: params.id, record: patched }
        const row = writeRecord(sandbox, scope, written, (issue) => explainRemoval(issue, patch))
        return { body: maskedRow(collection.name, row), etag: etagOf(row) }
      })
      return result
    },
  }),
  route('DELETE /state/{collection}/{id}', {
    name: 'records.delete',
    summary: 'Delete one record, and the future events about it',
    returns: 'Nothing.',
    success: [204],
    conditional: true,
    output: noBody,
    handle: ({ sandbox, params, ifMatch }) => {
      const collection = collectionOf(sandbox, params.collection)
      change(sandbox, (scope) => {
        refuseUnlessMatched(params, scope.tx.get(collection.name, params.id), ifMatch)
        deleteRecord(sandbox, scope, collection, params.id)
      })
      return { status: 204 }
    },
  }),
] as const

/** The entity tag of a record. Equal records have equal tags. */
function etagOf(row: Row): string {
  const text = JSON.stringify(row)
  return `"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"`
}

/** Refuses with 412 if If-Match does not contain the tag of the record; `*` matches any existing record. */
function refuseUnlessMatched(
  { collection, id }: { readonly collection: string; readonly id: string },
  row: Row | undefined,
  ifMatch: string | undefined,
): void {
  if (ifMatch === undefined) return
  const tags = ifMatch.split(',').map((tag) => tag.trim())
  if (row !== undefined && (ifMatch.trim() === '*' || tags.includes(etagOf(row)))) return
  const name = `${collection}/${id}`
  refuse(
    'precondition_failed',
    row === undefined
      ? {
          detail: `There is no record ${name}, but If-Match requires one. Nothing was changed.`,
          mitigation: 'Send the request without If-Match to create the record.',
        }
      : {
          detail: `The record ${name} does not have the ETag of If-Match any more. Nothing was changed.`,
          mitigation: `GET /__emulator/state/${name} shows the record and its ETag. Write again with that ETag, or without If-Match to write in any case.`,
        },
  )
}

// A merge patch cannot write null, since null removes a field. The issue names PUT as the fix.
function explainRemoval(issue: Issue, patch: Json): Issue {
  if (issue.detail !== REQUIRED || valueAt(patch, issue.pointer) !== null) return issue
  return { ...issue, detail: `${REQUIRED}; null in a merge patch removes it, so write a null with PUT` }
}
