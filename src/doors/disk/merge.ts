import { isObject, same } from '../../kernel/json.ts'
import type { Row } from '../../kernel/state/commit.ts'

/** Three states of one table: the file as the emulator wrote it, the file as it was edited, and the world as it is now. */
export interface Versions {
  /** Records of the file before the edit, as they stand in it. */
  readonly base: ReadonlyMap<string, unknown>
  /** Records of the edited file, as they stand in it. */
  readonly edited: ReadonlyMap<string, unknown>
  /** The edited file's records after they have been checked: the form in which they are taken. */
  readonly checked: ReadonlyMap<string, Row>
  readonly current: (id: string) => Row | undefined
  /** False when the edit was made on an older file than `base`: then everything that it replaces is named. */
  readonly exact: boolean
}

/** What an edit does to one table. */
export interface Merge {
  readonly puts: readonly Row[]
  readonly deletes: readonly string[]
  /** Records of the world that had changed since the file was written, and that the edit replaces or removes, as they were. */
  readonly replaced: readonly Row[]
}

/**
 * Merges by record. Changed only in the file: taken. Changed only in the world: kept. Changed in both: the edit wins, and
 * what it replaces is named.
 */
export function merge({ base, edited, checked, current, exact }: Versions): Merge {
  const [puts, deletes, replaced]: [Row[], string[], Row[]] = [[], [], []]
  const note = (id: string): void => {
    const row = current(id)
    if (row !== undefined && !(exact && same(row, base.get(id)))) replaced.push(row)
  }
  for (const [id, raw] of edited) {
    if (base.has(id) && same(raw, base.get(id))) continue
    const row = checked.get(id)
    if (row === undefined || same(row, current(id))) continue
    note(id)
    puts.push(row)
  }
  for (const id of base.keys()) {
    if (edited.has(id) || current(id) === undefined) continue
    note(id)
    deletes.push(id)
  }
  return { puts, deletes, replaced }
}

/** The records of a table of a document, by id. Anything that is no record is left out: it has been refused before. */
export function recordsById(rows: unknown): Map<string, unknown> {
  const map = new Map<string, unknown>()
  if (!Array.isArray(rows)) return map
  for (const row of rows) if (isObject(row) && typeof row.id === 'string') map.set(row.id, row)
  return map
}
