import type { JsonObject } from '../../kernel/json.ts'
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

/** The records of a starting world by collection; collections without a builder take records as they are. */
export type WorldRecords = {
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

/** A fixtures document that stands on a shipped world. */
export type WorldDocument = {
  readonly extends: 'demo' | 'empty' | 'large'
  readonly collections: Readonly<Record<string, readonly JsonObject[]>>
}

/**
 * A fixtures document: the world `base` and these records, each in the place of the one with its id. Builders of records
 * refer to the world `demo`; in another one their references have to be given.
 * @example startEmulator({ fixtures: aWorld({ files: [aFileRecord({ pages: 1 })] }) })
 */
export function aWorld(records: WorldRecords = {}, base: WorldDocument['extends'] = 'demo'): WorldDocument {
  const given = Object.entries(records).filter(([, list]) => list !== undefined)
  // Records are JSON, whatever their types are called.
  const collections = Object.fromEntries(given) as WorldDocument['collections']
  return { extends: base, collections }
}
