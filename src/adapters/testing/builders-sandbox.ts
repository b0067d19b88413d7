import type { JsonObject } from '../../core/json.ts'
import type {
  ApiKeyRecord,
  EventTriggerRecord,
  FileRecord,
  MembershipRecord,
  PageRecord,
  SkillRecord,
  TeamspaceRecord,
  UserRecord,
} from './builders-records.ts'

/** The records of a starting state by collection; collections without a builder take records as they are. */
export type SandboxRecords = {
  readonly teamspaces?: readonly TeamspaceRecord[]
  readonly users?: readonly UserRecord[]
  readonly memberships?: readonly MembershipRecord[]
  readonly api_keys?: readonly ApiKeyRecord[]
  readonly pages?: readonly PageRecord[]
  readonly skills?: readonly SkillRecord[]
  readonly files?: readonly FileRecord[]
  readonly event_triggers?: readonly EventTriggerRecord[]
  readonly [collection: string]: readonly object[] | undefined
}

/** A fixtures document that stands on a shipped data. */
export type StateDocumentFile = {
  readonly extends: 'demo' | 'empty' | 'large'
  readonly collections: Readonly<Record<string, readonly JsonObject[]>>
}

/**
 * A fixtures document: the sandbox `base` and these records, each in the place of the one with its id. Builders of records
 * refer to the sandbox `demo`; in another one their references have to be given.
 * @example startEmulator({ fixtures: aSandbox({ files: [aFileRecord({ pages: 1 })] }) })
 */
export function aSandbox(
  records: SandboxRecords = {},
  base: StateDocumentFile['extends'] = 'demo',
): StateDocumentFile {
  const given = Object.entries(records).filter(([, list]) => list !== undefined)
  // Records are JSON, whatever their types are called.
  const collections = Object.fromEntries(given) as StateDocumentFile['collections']
  return { extends: base, collections }
}
