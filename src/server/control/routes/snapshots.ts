import { z } from 'zod'
import { anyObject, list, listOf, type ShapeOf } from '../../../core/fields.ts'
import { nameField } from '../../../core/sandboxes/name-field.ts'
import { type Kept, snapshotView } from '../../../core/sandboxes/snapshots.ts'
import { stateDocument } from '../../../core/state/state.ts'
import { exportedDocument, exportOptions } from '../export-options.ts'
import { noBody, route, SANDBOX_BODY } from '../route.ts'
import { describeSandbox, sandboxSummary } from '../sandbox-summary.ts'

/** A snapshot that was just written, and whether it replaced another. */
const savedSnapshot = () => snapshotView().extend({ replaced: z.boolean() })

export type SavedSnapshot = ShapeOf<typeof savedSnapshot>

const named = () => z.strictObject({ name: nameField() })

/** Snapshots of a sandbox: its whole state, clock included. */
export const snapshotRoutes = [
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
] as const

function response({ entry, replaced }: Kept) {
  return { status: replaced ? 200 : 201, body: { ...entry, replaced } }
}
