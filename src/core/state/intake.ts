import type * as z from 'zod'
import type { Settings } from '../assumptions.ts'
import { didYouMean } from '../did-you-mean.ts'
import { IssueList } from '../issue-list.ts'
import { type Issue, isObject, pointer } from '../json.ts'
import { sealMembers } from '../secrets.ts'
import type { Service } from '../service.ts'
import { parsed, UNCOMPILED, zodIssues } from '../zod-issues.ts'
import { type AnyCollection, collectionFor, OWN_NAME } from './collection.ts'
import type { Row } from './commit.ts'
import type { Store } from './store.ts'
import type { Transaction } from './transaction.ts'

/**
 * Checks the shape of one record that comes from outside the API (a fixture, a hand edit, the control API), under the
 * settings in force. Secrets are replaced by their digests. Issues are added to the list, with pointers below `at`.
 */
export function acceptRecord(
  collection: AnyCollection,
  raw: unknown,
  settings: Settings,
  at: string,
  issues: IssueList,
): Row | undefined {
  const result = parsed(collection.schema(settings), raw)
  if (result.success) return sealMembers(result.data as Row, collection.secrets)
  issues.addAll(zodIssues(result.error, at))
  return undefined
}

/** Which part of a list is checked: the number of its first record, and the ids of the records before it. */
interface Part {
  readonly from: number
  readonly seen: Set<string>
}

/** Checks an array of records, whose ids must be unique. An invalid record becomes `undefined` and adds an issue.
 * Records after a hundred problems are not checked and left out. */
export function acceptRecords(
  collection: AnyCollection,
  raw: unknown,
  settings: Settings,
  at: string,
  issues: IssueList,
  part: Part = { from: 0, seen: new Set() },
): (Row | undefined)[] {
  if (!Array.isArray(raw)) {
    issues.push({ pointer: at, detail: 'must be an array of records' })
    return []
  }
  if (raw.length === 0) return []
  const rows = acceptRows<Row>(collection.schema(settings), raw, at, issues, part)
  return collection.secrets.length === 0
    ? rows
    : rows.map((row) => row && sealMembers(row, collection.secrets))
}

/**
 * Checks the collections of the user. Of one whose name the service has by now, the records that fit are moved to that of the
 * service, and the others to one with another name, so that nothing is lost and a start does not fail.
 */
export function acceptOwn(
  raw: unknown,
  service: Pick<Service, 'collections'>,
  settings: Settings,
  issues: IssueList,
) {
  const own: Record<string, readonly (Row | undefined)[]> = {}
  const moved: Record<string, readonly Row[]> = {}
  for (const [name, rows] of Object.entries(objectAt(raw, '/own', issues))) {
    const at = pointer('own', name)
    const declared = service.collections.get(name)
    if (!OWN_NAME.test(name)) issues.push({ pointer: at, detail: 'is not a name that a collection can have' })
    else if (declared === undefined || !Array.isArray(rows))
      own[name] = acceptRecords(collectionFor(new Map(), name), rows, settings, at, issues)
    else {
      const fitting = acceptRecords(declared, rows, settings, at, new IssueList())
      moved[name] = fitting.filter(isAccepted)
      const left = rows.filter((_, index) => fitting[index] === undefined)
      if (left.length > 0)
        own[`${name}-unfit`] = acceptRecords(collectionFor(new Map(), name), left, settings, at, issues)
    }
  }
  return { own, moved }
}

const FEW_RECORDS = 200

/** As {@link acceptRecords}, for records of core. */
export function acceptRows<T extends Row>(
  schema: z.ZodType<T>,
  raw: readonly unknown[],
  at: string,
  issues: IssueList,
  { from, seen }: Part = { from: 0, seen: new Set() },
): (T | undefined)[] {
  const rows: (T | undefined)[] = []
  const how = raw.length <= FEW_RECORDS ? UNCOMPILED : undefined
  for (const [n, each] of raw.entries()) {
    if (issues.isFull) {
      issues.leaveOut({ unchecked: raw.length - n })
      break
    }
    const index = from + n
    const { data: row, error } = parsed(schema, each, how)
    if (error !== undefined) issues.addAll(zodIssues(error, at + pointer(index)))
    const isTwin = row !== undefined && seen.has(row.id)
    if (isTwin) {
      const detail = `the id "${row.id}" is used twice; give this record another id, or leave the id out`
      issues.push({ pointer: at + pointer(index, 'id'), detail })
    }
    rows.push(isTwin ? undefined : row)
    if (row !== undefined) seen.add(row.id)
  }
  return rows
}

/** A filter for the results of {@link acceptRecords}: it leaves out invalid records. */
export function isAccepted<T extends Row>(row: T | undefined): row is T {
  return row !== undefined
}

/** The records of each collection by their position in a document; undefined for one that is not valid. */
export type AcceptedRecords = Readonly<Record<string, readonly (Row | undefined)[]>>

/** The records that break a rule between the records of a sandbox, each with its issues. */
export function* brokenRecords({ collections }: Pick<Service, 'collections'>, tx: Transaction) {
  for (const { name, check } of collections.values()) {
    if (check === undefined) continue
    for (const row of tx.rows(name)) {
      const issues: readonly Issue[] = check(row, tx)
      if (issues.length > 0) yield { table: name, row, issues }
    }
  }
}

/** Checks the rules between the records of a sandbox. Pointers of issues are `/collections/{name}/{index}/...`. */
export function checkSandboxOptions(store: Store, service: Service, places?: AcceptedRecords): IssueList {
  const issues = new IssueList()
  const tx = store.begin()
  for (const { name, check } of service.collections.values()) {
    if (check === undefined) continue
    let index = -1
    for (const row of places?.[name] ?? store.rows(name).values()) {
      index += 1
      if (row === undefined) continue
      if (issues.isFull) return issues
      issues.addAll(check(row, tx), pointer('collections', name, index))
    }
  }
  return issues
}

/** Adds an issue for each name that no collection has, and suggests the most similar one. */
export function addUnknownCollections(
  issues: IssueList,
  names: readonly string[],
  { collections }: Service,
  at = '/collections',
): void {
  const known = [...collections.keys()]
  issues.addUnknown(names, known, (name) => ({
    pointer: at + pointer(name),
    detail: `There is no such collection.${didYouMean(name, known)}`,
  }))
}

/** The object itself, or an empty one. A value that is not an object adds an issue; a missing one does not. */
export function objectAt(raw: unknown, at: string, issues: IssueList): Readonly<Record<string, unknown>> {
  if (raw === undefined) return {}
  if (isObject(raw)) return raw
  issues.push({ pointer: at, detail: 'must be an object' })
  return {}
}
