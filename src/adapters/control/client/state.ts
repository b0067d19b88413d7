import type { Ask } from './ask.ts'
import type { List } from './views/list.ts'
import type { FixturesDocument, SandboxSummary, StateDocument, StateRecord } from './views/sandboxes.ts'

/** A record that is to be written, or members of one. */
type Members = Readonly<Record<string, unknown>>

/** What a state shows of the secrets that sign webhooks. */
export interface ShownSecrets {
  /** They are shown as they are, so that another emulator can load them; masked when left out. */
  readonly secrets?: boolean
}

/** The query that asks for secrets. */
export function secretsQuery({ secrets = false }: ShownSecrets = {}) {
  return secrets ? { query: { secrets: 'true' as const } } : {}
}

/** The records of a sandbox, whatever the API itself can do with them. What is written is checked; a refusal changes nothing. */
export interface SandboxStateAccess {
  /** The whole state: secrets as digests, and those that sign webhooks masked unless they are asked for. */
  document(options?: ShownSecrets): Promise<StateDocument>
  /** Replaces the whole state, or refuses the document whole. A masked secret stays as it is stored. */
  load(document: StateDocument): Promise<SandboxSummary>
  /** Adds the records of a fixtures document; one with a known id replaces that record. */
  merge(fixtures: FixturesDocument): Promise<{ readonly written: Readonly<Record<string, number>> }>
  list<T extends object = StateRecord>(collection: string, options?: ShownSecrets): Promise<List<T>>
  get<T extends object = StateRecord>(collection: string, id: string, options?: ShownSecrets): Promise<T>
  /** Writes one record whole, new or not. */
  put<T extends object = StateRecord>(collection: string, record: StateRecord): Promise<T>
  /** Changes members of a record by a merge patch (RFC 7396): null removes a member. */
  patch<T extends object = StateRecord>(collection: string, id: string, patch: Members): Promise<T>
  /** Deletes a record, and the future events about it. */
  delete(collection: string, id: string): Promise<void>
}

export function stateOver(ask: Ask): SandboxStateAccess {
  // What the records of a collection look like, only the caller can know: the answers are cast to that.
  return {
    document: (options) => ask('GET /state', secretsQuery(options)),
    load: (document) => ask('PUT /state', { body: { ...document } }),
    merge: (fixtures) => ask('POST /fixtures', { body: fixtures }),
    list: async <T>(collection: string, options?: ShownSecrets) => {
      const given = { params: { collection }, ...secretsQuery(options) }
      return (await ask('GET /state/{collection}', given)) as unknown as List<T>
    },
    get: async <T>(collection: string, id: string, options?: ShownSecrets) =>
      (await ask('GET /state/{collection}/{id}', {
        params: { collection, id },
        ...secretsQuery(options),
      })) as T,
    put: async <T>(collection: string, record: StateRecord) => {
      const params = { collection, id: record.id }
      return (await ask('PUT /state/{collection}/{id}', { params, body: record })) as T
    },
    patch: async <T>(collection: string, id: string, patch: Members) =>
      (await ask('PATCH /state/{collection}/{id}', { params: { collection, id }, body: patch })) as T,
    delete: async (collection, id) =>
      void (await ask('DELETE /state/{collection}/{id}', { params: { collection, id } })),
  }
}
