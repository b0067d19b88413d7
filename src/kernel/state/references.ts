import { refuse, refuseInvalid } from '../errors.ts'
import type { Issue } from '../json.ts'
import type { Service } from '../operation.ts'
import type { World } from '../worlds/world.ts'
import type { Transaction } from './store.ts'

/** Something that does not hold between a record and the others. */
export interface BrokenRecord extends Issue {
  /** `collection/id` of the record; the pointer leads into it. */
  readonly ref: string
}

/** At most this many records are named in a refusal. */
const MOST_NAMED = 10

/** What would no longer hold if a transaction were committed, and holds now. */
export function brokenBy(world: Pick<World, 'service' | 'store'>, tx: Transaction): BrokenRecord[] {
  const after = broken(world.service, tx)
  if (after.length === 0) return after
  const before = new Set(broken(world.service, world.store.begin()).map(fingerprint))
  return after.filter((each) => !before.has(fingerprint(each)))
}

/** Refuses a transaction that writes one record and leaves that one or another without what it refers to. */
export function refuseBrokenWrite(world: World, tx: Transaction, written: string): void {
  refuseInvalid(
    brokenBy(world, tx).map(({ ref, ...issue }) =>
      ref === written
        ? issue
        : { pointer: '', detail: `would break ${ref} (${issue.pointer}: ${issue.detail})` },
    ),
  )
}

/** Refuses a transaction that deletes one record which others need. */
export function refuseBrokenDelete(world: World, tx: Transaction, deleted: string): void {
  const left = brokenBy(world, tx)
  if (left.length === 0) return
  const refs = [...new Set(left.map(({ ref }) => ref))]
  const named = refs.slice(0, MOST_NAMED)
  const more = refs.length > named.length ? ` and ${refs.length - named.length} more` : ''
  refuse('conflict', {
    detail: `${deleted} is needed by ${named.join(', ')}${more}.`,
    mitigation: 'Delete those records first, or let them refer to another.',
    details: { needed_by: named },
  })
}

function broken(service: Service, tx: Transaction): BrokenRecord[] {
  const found: BrokenRecord[] = []
  for (const { name, check } of service.collections.values()) {
    if (check === undefined) continue
    for (const row of tx.rows(name)) {
      for (const issue of check(row, tx)) found.push({ ...issue, ref: `${name}/${row.id}` })
    }
  }
  return found
}

function fingerprint({ ref, pointer, detail }: BrokenRecord): string {
  return JSON.stringify([ref, pointer, detail])
}
