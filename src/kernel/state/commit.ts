import type { JsonObject } from '../json.ts'
import { diff, type PatchStep, patch } from './diff.ts'

/** One record of a table: immutable, addressed by `id`. */
export interface Row {
  readonly id: string
}

/** What one transaction did to one record. `before` and `after` are the very objects, so equal parts are shared. */
export interface Change {
  readonly table: string
  readonly id: string
  readonly before: Row | undefined
  readonly after: Row | undefined
}

/** The statuses of a record before and after a change; undefined when it has none, or the same. */
export function transitionOf({ before, after }: Pick<Change, 'before' | 'after'>) {
  const [from, to] = [statusOf(before), statusOf(after)]
  return from === undefined || to === undefined || from === to ? undefined : { from, to }
}

/** The status of a record; undefined where it has none. */
export function statusOf(row: Row | undefined): string | undefined {
  const status = (row as { status?: unknown } | undefined)?.status
  return typeof status === 'string' ? status : undefined
}

/** One committed transaction: its number in the world's history, its virtual instant and what it changed. */
export interface Commit {
  readonly revision: number
  /** Virtual instant, ISO 8601. */
  readonly at: string
  readonly changes: readonly Change[]
  readonly order?: readonly TableOrder[]
}

/** The ids of a table in the order in which its records stand, where the changes alone would leave them in another. */
export type TableOrder = readonly [table: string, ids: readonly string[]]

/**
 * A change as it stands in a log line: the whole record, the difference to the record before, or a removal.
 * The difference keeps a line small when a record with thousands of items only moves its status.
 */
export type LoggedChange =
  | readonly ['put', string, Row]
  | readonly ['patch', string, string, readonly PatchStep[]]
  | readonly ['delete', string, string]

/** A commit as it stands in the log. */
export interface LoggedCommit {
  readonly revision: number
  readonly at: string
  readonly changes: readonly LoggedChange[]
  readonly order?: readonly TableOrder[]
}

/** Where commits become durable. `append` returns only when the line is with the operating system; it throws when it is not. */
export interface Journal {
  append(commit: Commit): void
  /** Resolves when everything appended so far survives a power cut; undefined where that is not promised. */
  durable(): Promise<void> | undefined
}

/** Turns a commit into what its log line says. */
export function logged(commit: Commit): LoggedCommit {
  const { revision, at, changes, order } = commit
  return { revision, at, changes: changes.map(loggedChange), ...(order === undefined ? {} : { order }) }
}

function loggedChange({ table, id, before, after }: Change): LoggedChange {
  if (after === undefined) return ['delete', table, id]
  if (before === undefined) return ['put', table, after]
  return ['patch', table, id, diff(asObject(before), asObject(after))]
}

/**
 * The record that a logged change leaves behind, given the one before it.
 * Throws when a difference has no record to stand on, which means that the log does not belong to this state.
 */
export function replayed(change: LoggedChange, before: Row | undefined): Row | undefined {
  switch (change[0]) {
    case 'put':
      return change[2]
    case 'delete':
      return undefined
    case 'patch':
      if (before === undefined) {
        throw new Error(`the log changes ${change[1]}/${change[2]}, which does not exist at that point`)
      }
      return patch(asObject(before), change[3]) as unknown as Row
  }
}

/** The table and id that a logged change is about. */
export function target(change: LoggedChange): readonly [table: string, id: string] {
  return change[0] === 'put' ? [change[1], change[2].id] : [change[1], change[2]]
}

function asObject(row: Row): JsonObject {
  return row as unknown as JsonObject
}
