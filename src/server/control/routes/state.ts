import { z } from 'zod'
import { readFixtures } from '../../../adapters/fixtures.ts'
import { refuseInvalid } from '../../../core/errors.ts'
import { anyObject, list, listOf, type ShapeOf } from '../../../core/fields.ts'
import { isObject, type JsonObject } from '../../../core/json.ts'
import { loadDocument } from '../../../core/sandboxes/change.ts'
import { nameField } from '../../../core/sandboxes/name-field.ts'
import { type Kept, snapshotView } from '../../../core/sandboxes/snapshots.ts'
import { maskedDocument, stableDocument } from '../../../core/state/masked.ts'
import { mergeFixtures } from '../../../core/state/merge-fixtures.ts'
import { type Document, stateDocument } from '../../../core/state/state.ts'
import { flag, noBody, route, SANDBOX_BODY } from '../route.ts'
import { describeSandbox, sandboxSummary } from '../sandbox-summary.ts'
import { foreignExtends, originOf, refuseFixtures, startingPoint } from '../starting-point.ts'

/** A snapshot that was just written, and whether it replaced another. */
const savedSnapshot = () => snapshotView().extend({ replaced: z.boolean() })

export type SavedSnapshot = ShapeOf<typeof savedSnapshot>

const named = () => z.strictObject({ name: nameField() })

/** The document is an edit of the state at this revision. */
const ifRevision = () =>
  z
    .strictObject({
      if_revision: z
        .string()
        .regex(/^\d{1,15}$/, { error: 'must be the revision of a state document, such as 12' })
        .transform(Number)
        .optional(),
    })
    .prefault({})

const start = () => startingPoint().prefault({})

/** The query of an export: with the secrets that sign webhooks, and without real instants. */
const exportOptions = () => ({
  query: z.strictObject({ secrets: flag(), stable: flag() }).prefault({}),
})

/** Routes about the whole state of a sandbox, clock included, and its snapshots. */
export const stateRoutes = [
  route('GET /snapshots', {
    name: 'snapshots.list',
    summary: 'List the snapshots of the sandbox',
    returns:
      'Each with the instant and the revision of its sandbox and its number of records, or with the problem that makes it unusable.',
    output: () => listOf(snapshotView()),
    handle: async ({ host, sandbox }) => ({
      body: list(await host.sandboxes.snapshots(sandbox).list()),
    }),
  }),
  route('POST /snapshots', {
    name: 'snapshots.save',
    unrecorded: true,
    summary: 'Save the whole state, clock included, under a name; it replaces a snapshot of that name',
    returns: 'The snapshot: 201 when the name is new.',
    success: [200, 201],
    input: () => ({ body: named() }),
    output: savedSnapshot,
    handle: async ({ host, sandbox, body: { name } }) =>
      response(await host.sandboxes.snapshots(sandbox).save(name)),
  }),
  route('GET /snapshots/{name}', {
    name: 'snapshots.export',
    summary: 'Show the state document of a snapshot',
    returns:
      'The same as GET /state when it was saved; secrets that sign webhooks are masked unless ?secrets=true is given, and real instants are left out if ?stable=true is given.',
    input: exportOptions,
    output: stateDocument,
    handle: async ({ host, sandbox, params, query }) => {
      const document = await host.sandboxes.snapshots(sandbox).export(params.name)
      return { body: exportedDocument(document, query) }
    },
  }),
  route('PUT /snapshots/{name}', {
    name: 'snapshots.import',
    unrecorded: true,
    summary: 'Store a state document as a snapshot; a refused document changes nothing',
    returns: 'The snapshot: 201 when the name is new.',
    success: [200, 201],
    bounds: SANDBOX_BODY,
    input: () => ({ body: anyObject() }),
    output: savedSnapshot,
    handle: async ({ host, sandbox, params, body }) =>
      response(await host.sandboxes.snapshots(sandbox).import(params.name, body)),
  }),
  route('POST /snapshots/{name}/restore', {
    name: 'snapshots.restore',
    unrecorded: true,
    summary: 'Restore everything from a snapshot: records, clock, schedule, settings, limits and request log',
    returns: 'A summary of the sandbox.',
    output: () => sandboxSummary().extend({ restored: z.string() }),
    handle: async ({ host, sandbox, params }) => {
      await host.sandboxes.snapshots(sandbox).restore(params.name)
      return { body: { restored: params.name, ...describeSandbox(sandbox) } }
    },
  }),
  route('DELETE /snapshots/{name}', {
    name: 'snapshots.delete',
    unrecorded: true,
    summary: 'Delete a snapshot',
    returns: 'Nothing.',
    success: [204],
    output: noBody,
    handle: async ({ host, sandbox, params }) => {
      await host.sandboxes.snapshots(sandbox).delete(params.name)
      return { status: 204 }
    },
  }),
  route('POST /reset', {
    name: 'sandbox.reset',
    summary: 'Start the sandbox again: records, clock, settings and request log',
    returns: 'A summary of the new sandbox.',
    bounds: SANDBOX_BODY,
    input: () => ({ body: start() }),
    output: sandboxSummary,
    handle: async ({ host, sandbox, body }) => {
      refuseInvalid(foreignExtends(body.fixtures, '/fixtures'))
      await host.sandboxes
        .reset(sandbox, originOf(body))
        .catch((error) => refuseFixtures(error, isObject(body.fixtures) ? '/fixtures' : ''))
      return { body: describeSandbox(sandbox) }
    },
  }),
  route('GET /state', {
    name: 'sandbox.show',
    summary:
      'Show the whole state: secrets as digests, and those that sign webhooks masked unless ?secrets=true is given; without real instants if ?stable=true is given',
    returns: 'The state document, as in the JSON file except for masked secrets.',
    input: exportOptions,
    output: stateDocument,
    handle: ({ sandbox, query }) => ({ body: exportedDocument(sandbox.document(), query) }),
  }),
  route('PUT /state', {
    name: 'sandbox.load',
    summary:
      'Replace the whole state by a document; a refused document changes nothing; a masked secret keeps its stored value; with ?if_revision={revision of the document that was edited} it is refused with 412 if records have changed since',
    returns: 'A summary of the new sandbox.',
    bounds: SANDBOX_BODY,
    input: () => ({ body: anyObject(), query: ifRevision() }),
    output: sandboxSummary,
    handle: ({ sandbox, body, query, onBegin }) => {
      // It belongs to the recording that ends: the next one begins with the state of the document.
      if (query.if_revision === undefined) onBegin?.()
      loadDocument(sandbox, body, query.if_revision)
      return { body: describeSandbox(sandbox) }
    },
  }),
  route('POST /fixtures', {
    name: 'sandbox.merge',
    summary:
      'Add the records of a fixtures document to the sandbox; one with a known id replaces that record',
    returns: 'The number of written records, by collection.',
    bounds: SANDBOX_BODY,
    input: () => ({ body: anyObject() }),
    output: () => z.strictObject({ written: z.record(z.string(), z.int()) }),
    handle: async ({ sandbox, body }) => {
      const document = body as JsonObject
      refuseInvalid(foreignExtends(document, ''))
      const fixtures = await readFixtures(document).catch((error) => refuseFixtures(error, ''))
      return { body: { written: await mergeFixtures(sandbox, fixtures) } }
    },
  }),
] as const

function response({ entry, replaced }: Kept) {
  return { status: replaced ? 200 : 201, body: { ...entry, replaced } }
}

/** A state document as an export shows it. */
function exportedDocument(
  document: Document,
  { secrets, stable }: z.output<ReturnType<typeof exportOptions>['query']>,
): Document {
  const shown = secrets ? document : maskedDocument(document)
  return stable ? stableDocument(shown) : shown
}
