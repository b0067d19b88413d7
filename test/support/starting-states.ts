import { readFileSync } from 'node:fs'
import { onTestFinished } from 'vitest'
import { readFixtures } from '../../src/adapters/fixtures.ts'
import { shippedFile } from '../../src/adapters/package.ts'
import type { Issue, JsonObject } from '../../src/core/json.ts'
import { type Built, buildStartingState } from '../../src/core/state/starting-state.ts'
import { CLOCK, type Document, SANDBOX_TABLE, toDocument } from '../../src/core/state/state.ts'
import type { ClockRow } from '../../src/core/time/clock.ts'
import { type InternalOptions, openEmulator } from '../../src/emulator/emulator.ts'
import { workspaceService } from '../../src/emulator/service.ts'
import { START } from './base-state.ts'
import { startAt } from './built-state.ts'

/** A record of any collection, untyped. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into records of every shape; the assertions are the types.
export type AnyRecord = any

export interface BuildOptions {
  readonly seed?: number
  /** ISO 8601. */
  readonly clock?: string
  readonly settings?: JsonObject
}

/** Builds a starting state in process, from the name of shipped fixtures or a document. */
export async function build(source: string | JsonObject, options: BuildOptions = {}): Promise<Built> {
  const { seed = 1, clock = START, settings = {} } = options
  const now = Date.parse(clock)
  const start = startAt(now, { seed, settings })
  return buildStartingState(await readFixtures(source), start, workspaceService)
}

/** The issues of an invalid starting state; empty if it is valid. */
export async function issuesOf(source: JsonObject, settings: JsonObject = {}): Promise<readonly Issue[]> {
  const built = await build(source, { settings })
  return 'issues' in built ? built.issues : []
}

/** The saved document of a starting state; throws if the state is invalid. */
export async function documentOf(source: string | JsonObject, options: BuildOptions = {}): Promise<Document> {
  const built = await build(source, options)
  if ('issues' in built) throw new Error(JSON.stringify(built.issues, null, 2))
  const { store, limits } = built.state
  const clock = store.get(SANDBOX_TABLE, CLOCK) as ClockRow
  const about = { sandbox: 'default', clock, limits, requests: 0 }
  return toDocument(store, workspaceService.collections.keys(), about)
}

const built = new Map<string, Promise<Document>>()

/** Like {@link documentOf} for shipped fixtures; cached for the tests of one file, because records never change. */
export function shippedEmulator(
  name: string,
  { seed = 1, clock = START }: BuildOptions = {},
): Promise<Document> {
  const key = `${name} ${seed} ${clock}`
  const document = built.get(key) ?? documentOf(name, { seed, clock })
  built.set(key, document)
  return document
}

/** The records of one collection of a document. */
export function records(document: Document, collection: string): readonly AnyRecord[] {
  return document.collections[collection] ?? []
}

/** A shipped fixtures document, parsed but not built. */
export function shipped(name: string): AnyRecord {
  return JSON.parse(readFileSync(shippedFile('fixtures', `${name}.json`), 'utf8'))
}

/** The demo data with one record changed and no generated records. */
export function demoWith(collection: string, id: string, change: (record: AnyRecord) => object): AnyRecord {
  const document = shipped('demo')
  const rows: AnyRecord[] = document.collections[collection]
  const changed = rows.map((row) => (row.id === id ? { ...row, ...change(row) } : row))
  return { ...document, generate: {}, collections: { ...document.collections, [collection]: changed } }
}

/** A response of a sandbox on a real server. */
export interface Reply {
  readonly status: number
  readonly body: AnyRecord
}

/** Sends a request to a sandbox that {@link serve} started. */
export type Ask = (token: string, method: string, path: string, json?: unknown) => Promise<Reply>

/** Starts a sandbox on a real server until the end of the test. */
export async function serve(fixtures: string, options: InternalOptions = {}): Promise<Ask> {
  const start = { port: 0, ephemeral: true, clock: START, rate: 0, fixtures }
  const emulator = await openEmulator({ ...start, ...options })
  onTestFinished(() => emulator.close())
  return async (token, method, path, json) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const sent = json === undefined ? {} : { body: JSON.stringify(json) }
    const response = await fetch(emulator.baseUrl + path, { method, headers, ...sent })
    const text = await response.text()
    return { status: response.status, body: text === '' ? undefined : JSON.parse(text) }
  }
}
