import { isObject, type Json, type JsonObject } from '../json.ts'
import type { LoggedChange, LoggedCommit, Row } from './commit.ts'
import { FAILED_EVENTS, FORMAT, SANDBOX_TABLE } from './state.ts'

/** A table of format 1: its current name, and the conversion of its rows. */
interface Migrated {
  readonly name: string
  readonly row: (row: JsonObject) => JsonObject
}

const TABLES: Readonly<Record<string, Migrated>> = {
  $world: { name: SANDBOX_TABLE, row: (row) => row },
  $schedule: { name: '$schedule', row: migrateEvent },
  $parked: { name: FAILED_EVENTS, row: migrateEvent },
  $scenario_calls: { name: '$scenario_calls', row: migrateCall },
}

/**
 * Converts a document of an earlier format to the current one; returns anything else unchanged. In format 1 (version 0.1.0)
 * `failed` was `parked` and the `description` of an event was `says`. A call of a scenario had the batch of its event.
 */
export function migrate(document: unknown): unknown {
  if (!isObject(document) || document.format !== 1) return document
  const { parked, schedule, scenario_calls: calls, ...rest } = document
  return {
    ...rest,
    format: FORMAT,
    ...(schedule === undefined ? {} : { schedule: eachRow(schedule, migrateEvent) }),
    ...(parked === undefined ? {} : { failed: eachRow(parked, migrateEvent) }),
    ...(calls === undefined ? {} : { scenario_calls: eachRow(calls, migrateCall) }),
  }
}

/** Converts a commit of a log of version 0.1.0 to the current format. */
export function migrateCommit({ changes, order, tables, ...rest }: LoggedCommit): LoggedCommit {
  return {
    ...rest,
    changes: changes.map(migrateChange),
    ...(order && { order: order.map(([table, ids]) => [TABLES[table]?.name ?? table, ids] as const) }),
    ...(tables && {
      tables: tables.map(
        ([table, rows]) => [TABLES[table]?.name ?? table, migrateRows(table, rows)] as const,
      ),
    }),
  }
}

function migrateChange(change: LoggedChange): LoggedChange {
  const [action, table] = change
  const present = TABLES[table]
  if (present === undefined) return change
  if (action === 'put')
    return ['put', present.name, present.row(change[2] as unknown as JsonObject) as unknown as Row]
  return action === 'delete'
    ? ['delete', present.name, change[2]]
    : ['patch', present.name, change[2], change[3]]
}

function migrateRows(table: string, rows: readonly Row[]): readonly Row[] {
  const present = TABLES[table]
  return present === undefined
    ? rows
    : (eachRow(rows as unknown as Json, present.row) as unknown as readonly Row[])
}

function eachRow(rows: Json, migrated: Migrated['row']): Json {
  return Array.isArray(rows) ? rows.map((each) => (isObject(each) ? migrated(each) : each)) : rows
}

function migrateEvent({ says, ...event }: JsonObject): JsonObject {
  return says === undefined ? event : { ...event, description: says }
}

function migrateCall({ batch: _, ...call }: JsonObject): JsonObject {
  return call
}
