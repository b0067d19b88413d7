import type { Settings } from '../assumptions.ts'
import { refuse, refuseInvalid } from '../errors.ts'
import { type Issue, isObject, type JsonObject, pointer } from '../json.ts'
import type { Scope } from '../operation.ts'
import { hash, objectId } from '../random.ts'
import { change } from '../sandboxes/change.ts'
import type { Sandbox } from '../sandboxes/sandbox.ts'
import { acceptStubs, writeStubs } from '../scenarios/stub.ts'
import { armRecord } from '../service.ts'
import { countPast } from './counters.ts'
import { acceptOwn } from './intake.ts'
import { unmaskedRows } from './masked.ts'
import { buildStartingState, checkNames, type Fixtures } from './starting-state.ts'
import type { SandboxState } from './state.ts'
import type { Store } from './store.ts'
import { brokenBy } from './write-record.ts'

/** The records of one collection: those of the document first, then those of the sandbox that it does not replace. */
interface Joined {
  readonly rows: unknown
  /** Ids of the document's records. */
  readonly given: ReadonlySet<unknown>
  /** Ids of the sandbox's records. They are checked with the others, but not written. */
  readonly present: ReadonlySet<string>
}

/** The records of a fixtures document and those of a sandbox, checked together and ready to be written. */
export type MergePlan = Awaited<ReturnType<typeof planMerge>>

/** The time and the settings of a merge. Default: those of the sandbox. */
interface MergeOptions {
  /** Virtual milliseconds; relative timestamps count from here. */
  readonly now?: number
  readonly settings?: Settings
}

/**
 * Adds the records of a fixtures document to a sandbox, and generates those of its `generate`. A record replaces one with the
 * same id. Relative timestamps count from the sandbox's current instant. Writes all records or none.
 * @returns how many records were written, by collection, and stubs under that name
 * @throws Refusal with every issue, by pointer into the document
 */
export async function mergeFixtures(sandbox: Sandbox, fixtures: Fixtures) {
  const { now } = sandbox.clock
  const plan = await planMerge(sandbox, fixtures)
  if (now < sandbox.clock.now) sandbox.recording.cannotRepeat(LATE_FIXTURES)
  return change(sandbox, (scope) => writeMerge(sandbox, scope, plan)).result
}

/** For a recording, see `cannotRepeat`. */
export const LATE_FIXTURES =
  'Requests were served while fixtures were built: the instants of these records can differ.'

/** Builds and checks the records that a merge will write; nothing is written yet. */
export async function planMerge(sandbox: Sandbox, fixtures: Fixtures, under: MergeOptions = {}) {
  const issues = checkNames(fixtures, sandbox.service)
  const stubs = acceptStubs(fixtures.stubs ?? [], sandbox.service, issues)
  const { own, moved } = acceptOwn(fixtures.own, sandbox.service, sandbox.settings, issues)
  refuseInvalid(issues)
  const joined = join(sandbox, fixtures)
  const store = await build(sandbox, fixtures, joined, under)
  /** `own`: records of collections of the user. */
  return { joined, store, stubs, own: { ...own, ...moved } }
}

/** Writes a merge in the transaction of the scope. Refuses with `conflict` when it is no longer valid in the sandbox. */
export function writeMerge(
  sandbox: Pick<Sandbox, 'service' | 'store'>,
  scope: Scope,
  { joined, store, stubs, own }: MergePlan,
): Readonly<Record<string, number>> {
  const { tx } = scope
  const written = new Map<string, number>()
  for (const [name, { given, present }] of joined) {
    for (const row of store.rows(name).values()) {
      if (present.has(row.id)) continue
      if (given.has(row.id)) tx.put(name, row)
      else if (tx.get(name, row.id) === undefined) tx.insert(name, row)
      else refuseChanged()
      armRecord(sandbox.service, scope, name, row)
      written.set(name, (written.get(name) ?? 0) + 1)
    }
  }
  for (const [name, rows] of Object.entries(own)) {
    for (const row of rows) if (row !== undefined) tx.put(name, row)
    written.set(name, rows.length)
  }
  if (stubs.length > 0) written.set('stubs', writeStubs(tx, stubs))
  // Another request may have changed records that the new ones refer to while these were generated.
  if (brokenBy(sandbox, tx).length > 0) refuseChanged()
  countPast(tx, scope.seed)
  return Object.fromEntries(written)
}

function refuseChanged(): never {
  refuse('conflict', {
    detail: 'The sandbox changed while the records were created.',
    mitigation: 'Send the document again.',
  })
}

function join({ service, store }: Sandbox, { collections }: Fixtures): ReadonlyMap<string, Joined> {
  const documents = new Map(Object.entries(collections))
  const joined = new Map<string, Joined>()
  for (const name of new Set([...documents.keys(), ...service.collections.keys()])) {
    const raw = documents.get(name) ?? []
    const own = Array.isArray(raw) ? unmaskedRows(name, raw, (id) => store.get(name, id)) : []
    const given = new Set(own.map((row) => (isObject(row) ? row.id : undefined)))
    const present = [...store.rows(name).values()].filter(({ id }) => !given.has(id))
    const rows: unknown = Array.isArray(raw) ? [...own, ...present] : raw
    joined.set(name, { rows, given, present: new Set(present.map(({ id }) => id)) })
  }
  return joined
}

// Builds a second state from all records, so that they are checked together as at the start. Generated ids come from a
// separate seed.
async function build(
  sandbox: Sandbox,
  { generate }: Fixtures,
  joined: ReadonlyMap<string, Joined>,
  under: MergeOptions,
): Promise<Store> {
  const collections = Object.fromEntries([...joined].map(([name, { rows }]) => [name, rows]))
  const { now = sandbox.clock.now, settings = sandbox.settings } = under
  const start = {
    seed: unusedSeed(sandbox, joined),
    now,
    rate: 0,
    skip_on_poll: false,
    settings: settings.overrides as JsonObject,
    strict: settings.strict,
    host: sandbox.options.host,
  }
  const fixtures = { collections, generate }
  const built = await buildStartingState(fixtures, start, sandbox.service).catch(refuseGenerator)
  refuseInvalid('issues' in built ? built.issues.map((issue) => explained(issue, joined)) : [])
  return (built as { readonly state: SandboxState }).state.store // without a state there are issues, refused above
}

// A seed that has not created any id of the sandbox: a document that is sent again generates other records.
function unusedSeed(sandbox: Sandbox, joined: ReadonlyMap<string, Joined>): number {
  const ids = [...joined.values()].flatMap(({ given, present }) => [...given, ...present])
  for (let attempt = 0; ; attempt++) {
    const seed = hash(sandbox.seed, 'fixtures', ids.length, attempt)
    const prefix = objectId(seed, 0).slice(0, 12)
    if (!ids.some((id) => typeof id === 'string' && id.startsWith(prefix))) return seed
  }
}

// A generator without the records that it refers to throws a plain Error, whose message is for the author of the document.
function refuseGenerator(error: unknown): never {
  if (error instanceof Error && error.constructor === Error)
    refuseInvalid([{ pointer: '/generate', detail: error.message }])
  throw error
}

// Indexes after the document's own records are records of the sandbox. The client did not send those: the detail has their id.
function explained(issue: Issue, joined: ReadonlyMap<string, Joined>): Issue {
  const [, name = '', index = '', rest = ''] =
    /^\/collections\/([^/]+)\/(\d+)(.*)$/s.exec(issue.pointer) ?? []
  const { rows, present } = joined.get(name) ?? {}
  if (!Array.isArray(rows) || present === undefined || Number(index) < rows.length - present.size)
    return issue
  const { id } = rows[Number(index)] as { readonly id: string }
  return {
    pointer: pointer('collections', name),
    detail: `The record "${id}" of the sandbox would become invalid: ${rest || '/'} ${issue.detail}`,
  }
}
