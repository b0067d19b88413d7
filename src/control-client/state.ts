import type { FixturesDocument } from '../adapters/fixtures.ts'
import type { JsonObject } from '../core/json.ts'
import type { SnapshotView } from '../core/sandboxes/snapshots.ts'
import type { Row } from '../core/state/commit.ts'
import type { Document } from '../core/state/state.ts'
import type { Collections } from '../server/control/routes/records.ts'
import type { SavedSnapshot } from '../server/control/routes/state.ts'
import type { SandboxSummary } from '../server/control/sandbox-summary.ts'
import { type CallControl, dataOf } from './ask.ts'

/** A record, as a sandbox stores it. Fields under `_emulator` are facts that the API does not show. */
export type StateRecord = Row & { readonly [field: string]: unknown }

/** Fields of a record to write. */
type Fields = Readonly<Record<string, unknown>>

/** Whether a state contains the secrets that sign webhooks. */
export interface ShownSecrets {
  /** True: in plain text, so that another emulator can load them. Default: masked. */
  readonly secrets?: boolean
}

function secretsQuery({ secrets = false }: ShownSecrets = {}) {
  return secrets ? { query: { secrets: 'true' as const } } : {}
}

/**
 * The records of a sandbox, also those that the API cannot change. Written records are checked; a refused call changes nothing.
 */
export type SandboxStateAccess = ReturnType<typeof stateOver>

export function stateOver(ask: CallControl) {
  // Only the caller knows the fields of the records in a collection.
  const as = <T extends object>(output: Promise<object>) => output as Promise<T>
  return {
    /** The whole state. Secrets are digests; those that sign webhooks are masked unless `secrets` is true. */
    document: (options?: ShownSecrets): Promise<Document> => ask('GET /state', secretsQuery(options)),
    /** The collections, and how many records each has. */
    collections: (): Promise<Collections['data']> => dataOf(ask('GET /collections')),
    /** The JSON Schema of the records of a collection, as they are accepted under the settings in force. */
    schema: async (collection: string): Promise<JsonObject> =>
      (await ask('GET /collections/{collection}', { params: { collection } })).schema as JsonObject,
    /** Replaces the whole state. A refused document changes nothing. A masked secret keeps its stored value. */
    load: (document: Document): Promise<SandboxSummary> => ask('PUT /state', { body: { ...document } }),
    /** Adds the records of a fixtures document; one with a known id replaces that record. */
    merge: (fixtures: FixturesDocument): Promise<{ readonly written: Readonly<Record<string, number>> }> =>
      ask('POST /fixtures', { body: fixtures }),
    list: <T extends object = StateRecord>(collection: string, options?: ShownSecrets) => {
      const query = secretsQuery(options)
      return as<readonly T[]>(dataOf(ask('GET /state/{collection}', { params: { collection }, ...query })))
    },
    get: <T extends object = StateRecord>(collection: string, id: string, options?: ShownSecrets) => {
      const query = secretsQuery(options)
      return as<T>(ask('GET /state/{collection}/{id}', { params: { collection, id }, ...query }))
    },
    /** Creates a record, or replaces all its fields. */
    put: async <T extends object = StateRecord>(collection: string, record: StateRecord) => {
      const params = { collection, id: record.id }
      return as<T>(ask('PUT /state/{collection}/{id}', { params, body: record }))
    },
    /** Changes fields of a record by a merge patch (RFC 7396): null removes a field. */
    patch: <T extends object = StateRecord>(collection: string, id: string, patch: Fields) =>
      as<T>(ask('PATCH /state/{collection}/{id}', { params: { collection, id }, body: patch })),
    /** Deletes a record, and the future events about it. */
    delete: (collection: string, id: string): Promise<void> =>
      ask('DELETE /state/{collection}/{id}', { params: { collection, id } }),
  }
}

/** Snapshots of a sandbox: its whole state, clock included. A name has 1 to 63 lower-case letters, digits and hyphens. */
export type SandboxSnapshots = ReturnType<typeof snapshotsOver>

export function snapshotsOver(ask: CallControl) {
  return {
    /** Saves the sandbox; a snapshot of that name is replaced. */
    save: (name: string): Promise<SavedSnapshot> => ask('POST /snapshots', { body: { name } }),
    list: (): Promise<readonly SnapshotView[]> => dataOf(ask('GET /snapshots')),
    /** Restores everything: records, clock, schedule, settings, limits and request log. A snapshot can be restored many times. */
    restore: (name: string): Promise<SandboxSummary & { readonly restored: string }> =>
      ask('POST /snapshots/{name}/restore', { params: { name } }),
    delete: (name: string): Promise<void> => ask('DELETE /snapshots/{name}', { params: { name } }),
    /** The state document of the snapshot. Secrets that sign webhooks are masked unless `secrets` is true. */
    export: (name: string, options?: ShownSecrets): Promise<Document> =>
      ask('GET /snapshots/{name}', { params: { name }, ...secretsQuery(options) }),
    /** Stores a state document as a snapshot. A refused document changes nothing. A masked secret keeps its stored value. */
    import: (name: string, document: Document): Promise<SavedSnapshot> =>
      ask('PUT /snapshots/{name}', { params: { name }, body: { ...document } }),
  }
}
