import { refuse } from '../errors.ts'
import type { Json } from '../json.ts'
import type { Method } from '../operation.ts'
import type { Row } from '../state/commit.ts'
import type { TableOf, Transaction } from '../state/store.ts'

/** Who has written a stub. */
export type StubSource = 'control' | 'fixtures' | `scenario:${string}`

/**
 * The answer of an endpoint that the specification shows no contract for, those that read messages above all (U043, U045).
 * Specification: Endpoints / Endpoints named without a contract.
 */
export interface Stub extends Row {
  readonly source: StubSource
  readonly method: Method
  /** From behind `/v1` on, with `{names}` for what varies: `/conversations/{id}/messages`. */
  readonly path: string
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** Absent: the answer has none. A `{"$request": pointer}` in it stands for a part of the request. */
  readonly body?: Json | undefined
}

/** A stub as users write it. */
export interface StubDraft {
  /** Default `stub`, with a number where that is taken. */
  readonly id?: string | undefined
  readonly method: Method
  readonly path: string
  /** Default 200. */
  readonly status?: number | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly body?: Json | undefined
}

export const stubs: TableOf<Stub> = { name: '$stubs', label: 'stub' }

/** Stubs that one world can have. */
export const MOST_STUBS = 1_000

/** Writes a stub whose draft has been checked. Refuses with `conflict` an id that is taken, and more than a world can have. */
export function putStub(tx: Transaction, draft: StubDraft, source: StubSource): Stub {
  const table = tx.in(stubs)
  if ([...table].length >= MOST_STUBS) {
    refuse('conflict', {
      detail: `The world has ${MOST_STUBS} stubs, which is as many as one can have.`,
      mitigation: 'DELETE /__emulator/stubs removes all of them, DELETE /__emulator/stubs/{id} one.',
    })
  }
  return table.put(stubOf(draft, idFor(tx, draft), source))
}

/** Writes the stubs of a fixtures document. One with an id replaces that one. @returns how many */
export function writeStubs(tx: Transaction, drafts: readonly StubDraft[]): number {
  for (const draft of drafts) {
    if (draft.id !== undefined) tx.in(stubs).delete(draft.id)
    putStub(tx, draft, 'fixtures')
  }
  return drafts.length
}

/** The record of a draft. */
function stubOf(draft: StubDraft, id: string, source: StubSource): Stub {
  const { method, path, status = 200, headers = {}, body } = draft
  // What a script has handed over, the script may change.
  return structuredClone({
    id,
    source,
    method,
    path,
    status,
    headers,
    ...(body === undefined ? {} : { body }),
  })
}

/** What a stub answers: two of the same place are two answers of one endpoint, whatever they call its parameters. */
export function placeOf({ method, path }: { readonly method?: unknown; readonly path?: unknown }): string {
  return `${String(method)} ${String(path).replaceAll(/\{[^/}]*\}/g, '{}')}`
}

/** Removes what one source has written. */
export function dropStubs(tx: Transaction, source: StubSource): void {
  const table = tx.in(stubs)
  for (const { id } of table.filter((stub) => stub.source === source)) table.delete(id)
}

function idFor(tx: Transaction, { id }: StubDraft): string {
  const table = tx.in(stubs)
  const base = id ?? 'stub'
  if (table.get(base) === undefined) return base
  if (id !== undefined) {
    refuse('conflict', {
      detail: `There is a stub "${id}" already.`,
      mitigation: `Take another id, or remove that one first: DELETE /__emulator/stubs/${encodeURIComponent(id)}.`,
    })
  }
  let n = 2
  while (table.get(`${base}-${n}`) !== undefined) n += 1
  return `${base}-${n}`
}
