import { type Issue, isObject, type Json, keysOf, valueAt } from '../../src/core/json.ts'

/** An invalid record of a document, with all of its issues. */
interface RecordIssues {
  /** The collection of the record, or the list of core: `pages`, `schedule`. */
  readonly collection: string
  /** Pointer to that list: `/collections/pages`, `/schedule`. */
  readonly list: string
  readonly index: number
  /** Undefined when the record has no id, or one that is not a string. */
  readonly id: string | undefined
  readonly issues: readonly Issue[]
}

/** Groups the issues of a document by record, in the order of each record's first issue. `others` are about no record. */
export function issuesByRecord(
  document: unknown,
  issues: readonly Issue[],
): { readonly records: readonly RecordIssues[]; readonly others: readonly Issue[] } {
  const records = new Map<string, RecordIssues & { readonly issues: Issue[] }>()
  const others: Issue[] = []
  for (const issue of issues) {
    const [, record, list = '', index] =
      /^((\/collections\/[^/]+|\/[^/]+)\/(0|[1-9]\d*))(?:\/|$)/.exec(issue.pointer) ?? []
    const found = record === undefined ? undefined : valueAt(document as Json, record)
    if (record === undefined || found === undefined) {
      others.push(issue)
      continue
    }
    const known = records.get(record)
    if (known !== undefined) {
      known.issues.push(issue)
      continue
    }
    const id = isObject(found) && typeof found.id === 'string' ? found.id : undefined
    const collection = keysOf(list).at(-1) as string
    records.set(record, { collection, list, index: Number(index), id, issues: [issue] })
  }
  return { records: [...records.values()], others }
}
