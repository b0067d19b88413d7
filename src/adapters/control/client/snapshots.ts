import type { Ask } from './ask.ts'
import { type ShownSecrets, secretsQuery } from './state.ts'
import type { List } from './views/list.ts'
import type { SandboxSummary, StateDocument } from './views/sandboxes.ts'

/** What is known of a snapshot. One that cannot be used has a problem, and nothing else is known of it. */
export interface SnapshotView {
  readonly name: string
  /** The virtual instant at which its clock stands. */
  readonly saved_at: string | null
  /** Number of the last commit that it contains. */
  readonly revision: number | null
  /** How many records its collections hold together. */
  readonly records: number | null
  readonly problem: string | null
}

/** A snapshot that was just written, and whether it took the place of another. */
export interface SavedSnapshot extends SnapshotView {
  readonly replaced: boolean
}

/**
 * Whole sandboxes at rest, clock included, each belonging to one sandbox. A name has 1 to 63 lower-case letters, digits and
 * hyphens.
 */
export interface SandboxSnapshots {
  /** Saves the sandbox; a snapshot of that name is replaced. */
  save(name: string): Promise<SavedSnapshot>
  list(): Promise<List<SnapshotView>>
  /** Takes everything back: records, clock, schedule, settings, limits and request log. It can be repeated. */
  restore(name: string): Promise<SandboxSummary & { readonly restored: string }>
  delete(name: string): Promise<void>
  /** The state document that the snapshot holds, the secrets that sign webhooks masked unless they are asked for. */
  export(name: string, options?: ShownSecrets): Promise<StateDocument>
  /** Keeps a state document as a snapshot, or refuses it whole. A masked secret stays as it is stored. */
  import(name: string, document: StateDocument): Promise<SavedSnapshot>
}

export function snapshotsOver(ask: Ask): SandboxSnapshots {
  return {
    save: (name) => ask('POST /snapshots', { body: { name } }),
    list: () => ask('GET /snapshots'),
    restore: (name) => ask('POST /snapshots/{name}/restore', { params: { name } }),
    delete: async (name) => void (await ask('DELETE /snapshots/{name}', { params: { name } })),
    export: (name, options) => ask('GET /snapshots/{name}', { params: { name }, ...secretsQuery(options) }),
    import: (name, document) => ask('PUT /snapshots/{name}', { params: { name }, body: { ...document } }),
  }
}
