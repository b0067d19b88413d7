import { z } from 'zod'
import { readFixtures } from '../../../adapters/fixtures.ts'
import { refuseInvalid } from '../../../core/errors.ts'
import { anyObject } from '../../../core/fields.ts'
import { isObject, type JsonObject } from '../../../core/json.ts'
import { loadDocument } from '../../../core/sandboxes/change.ts'
import { mergeFixtures } from '../../../core/state/merge-fixtures.ts'
import { stateDocument } from '../../../core/state/state.ts'
import { exportedDocument, exportOptions } from '../export-options.ts'
import { refuseFixtures } from '../refuse-fixtures.ts'
import { route, SANDBOX_BODY } from '../route.ts'
import { describeSandbox, sandboxSummary } from '../sandbox-summary.ts'
import { foreignExtends, originOf, startingPoint } from '../starting-point.ts'

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

/** Routes about the whole state of a sandbox. */
export const stateRoutes = [
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
