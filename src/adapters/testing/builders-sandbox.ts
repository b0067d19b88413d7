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

/** The records of a starting state by collection. Collections without a builder accept any records. */
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

/** A fixtures document that extends shipped fixtures. */
export type StateDocumentFile = {
  readonly extends: 'demo' | 'empty' | 'large'
  readonly collections: Readonly<Record<string, readonly JsonObject[]>>
}

/**
 * A fixtures document: the fixtures `base` with these records, which replace those with the same id. Builders of records refer
 * to the fixtures `demo`; with another base their references have to be given.
 * @example startEmulator({ fixtures: aSandbox({ files: [aFileRecord({ pages: 1 })] }) })
 */
export function aSandbox(
  records: SandboxRecords = {},
  base: StateDocumentFile['extends'] = 'demo',
): StateDocumentFile {
  const given = Object.entries(records).filter(([, list]) => list !== undefined)
  // All record types are JSON, which the compiler cannot see.
  const collections = Object.fromEntries(given) as StateDocumentFile['collections']
  return { extends: base, collections }
}
