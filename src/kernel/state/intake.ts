import type { Settings } from '../assumptions.ts'
import { type Issue, isObject, pointer } from '../json.ts'
import type { Service } from '../operation.ts'
import { sealMembers } from '../secrets.ts'
import { zodIssues } from '../zod-issues.ts'
import type { AnyCollection } from './collection.ts'
import type { Row } from './commit.ts'
import type { Store } from './store.ts'

/**
 * Checks one record that comes from outside the API (a fixture, a hand edit, the control API): its shape under the
 * settings in force. Secrets are replaced by their digests. Issues are added to the list, with pointers below `at`.
 */
export function acceptRecord(
  collection: AnyCollection,
  raw: unknown,
  settings: Settings,
  at: string,
  issues: Issue[],
): Row | undefined {
  const result = collection.schema(settings).safeParse(raw)
  if (result.success) return sealMembers(result.data as Row, collection.secrets)
  issues.push(...zodIssues(result.error, at))
  return undefined
}

/** Checks an array of records, ids unique among them. */
export function acceptRecords(
  collection: AnyCollection,
  raw: unknown,
  settings: Settings,
  at: string,
  issues: Issue[],
): Row[] {
  if (!Array.isArray(raw)) {
    issues.push({ pointer: at, detail: 'must be an array of records' })
    return []
  }
  if (raw.length === 0) return []
  const seen = new Set<string>()
  const schema = collection.schema(settings)
  const rows: Row[] = []
  for (const [index, each] of raw.entries()) {
    const result = schema.safeParse(each)
    if (!result.success) {
      issues.push(...zodIssues(result.error, at + pointer(index)))
      continue
    }
    const row = sealMembers(result.data as Row, collection.secrets)
    if (seen.has(row.id)) {
      issues.push({
        pointer: at + pointer(index, 'id'),
        detail: `the id "${row.id}" stands twice in ${collection.name}`,
      })
    }
    seen.add(row.id)
    rows.push(row)
  }
  return rows
}

/** What does not hold between the records of a world: pointers are `/collections/{name}/{index}/...`. */
export function checkWorld(store: Store, service: Service): Issue[] {
  const issues: Issue[] = []
  const tx = store.begin()
  for (const collection of service.collections.values()) {
    if (collection.check === undefined) continue
    let index = 0
    for (const row of store.rows(collection.name).values()) {
      for (const issue of collection.check(row, tx)) {
        issues.push({ ...issue, pointer: pointer('collections', collection.name, index) + issue.pointer })
      }
      index += 1
    }
  }
  return issues
}

/** The object under a key, or an empty one; anything else than an object is an issue. */
export function objectAt(raw: unknown, at: string, issues: Issue[]): Readonly<Record<string, unknown>> {
  if (raw === undefined) return {}
  if (isObject(raw)) return raw
  issues.push({ pointer: at, detail: 'must be an object' })
  return {}
}
