import type { Settings } from '../assumptions.ts'
import { refuse, refuseInvalid } from '../errors.ts'
import { type Issue, isObject, type JsonObject, pointer } from '../json.ts'
import { armRecord, type Scope } from '../operation.ts'
import { hash } from '../random.ts'
import { type StubDraft, writeStubs } from '../scenario/stub.ts'
import { acceptStubs } from '../scenario/stub-schema.ts'
import type { Sandbox } from '../worlds/sandbox.ts'
import { brokenBy } from './references.ts'
import { buildWorld, type Fixtures } from './starting-world.ts'
import type { Store } from './store.ts'

/** The records of one collection: those of the document first, then those of the world that it does not replace. */
interface Joined {
  readonly rows: unknown
  /** Ids of the document's records. */
  readonly given: ReadonlySet<unknown>
  /** How many records there are of the document, and altogether. */
  readonly counts: { readonly given: number; readonly all: number }
}

/** The records of a fixtures document beside those of a world, checked together and ready to be written. */
export interface MergePlan {
  readonly joined: ReadonlyMap<string, Joined>
  readonly store: Store
  readonly stubs: readonly StubDraft[]
}

/** Under what records are merged, where it is not as the world stands. */
export interface MergeUnder {
  /** Virtual milliseconds; relative timestamps count from here. */
  readonly now?: number
  readonly settings?: Settings
}

/**
 * Adds the records of a fixtures document to a world, and those that it asks to generate; a record replaces one with the
 * same id. Relative timestamps count from the world's present instant. All or nothing.
 * @returns how many records were written, by collection, and stubs under that name
 * @throws Refusal with every issue, by pointer into the document
 */
export async function mergeFixtures(
  sandbox: Sandbox,
  fixtures: Fixtures,
): Promise<Readonly<Record<string, number>>> {
  const plan = await planMerge(sandbox, fixtures)
  return sandbox.change((scope) => writeMerge(sandbox, scope, plan)).result
}

/** Makes and checks what a merge will write; nothing is written yet. */
export async function planMerge(
  sandbox: Sandbox,
  fixtures: Fixtures,
  under: MergeUnder = {},
): Promise<MergePlan> {
  const issues: Issue[] = []
  const stubs = acceptStubs(fixtures.stubs ?? [], sandbox.service, issues)
  refuseInvalid(issues)
  const joined = join(sandbox, fixtures)
  return { joined, store: await build(sandbox, fixtures, joined, under), stubs }
}

/** Writes a merge, in the transaction of the scope. Refuses when the world has changed so that it does not fit any more. */
export function writeMerge(
  world: Pick<Sandbox, 'service' | 'store'>,
  scope: Scope,
  { joined, store, stubs }: MergePlan,
): Readonly<Record<string, number>> {
  const { tx } = scope
  const written = new Map<string, number>()
  for (const [name, { given }] of joined) {
    for (const row of store.rows(name).values()) {
      if (!given.has(row.id) && tx.get(name, row.id) !== undefined) continue
      tx.put(name, row)
      armRecord(world.service, scope, name, row)
      written.set(name, (written.get(name) ?? 0) + 1)
    }
  }
  if (stubs.length > 0) written.set('stubs', writeStubs(tx, stubs))
  // While records were generated, another request may have changed what they refer to.
  if (brokenBy(world, tx).length > 0) {
    refuse('conflict', {
      detail: 'The world changed while the records were made.',
      mitigation: 'Send the document again.',
    })
  }
  return Object.fromEntries(written)
}

function join({ service, store }: Sandbox, { collections }: Fixtures): ReadonlyMap<string, Joined> {
  const documents = new Map(Object.entries(collections))
  const joined = new Map<string, Joined>()
  for (const name of new Set([...documents.keys(), ...service.collections.keys()])) {
    const own = documents.get(name) ?? []
    const given = new Set(Array.isArray(own) ? own.map((row) => (isObject(row) ? row.id : undefined)) : [])
    const present = [...store.rows(name).values()].filter(({ id }) => !given.has(id))
    const rows: unknown = Array.isArray(own) ? [...own, ...present] : own
    const size = Array.isArray(own) ? own.length : 0
    joined.set(name, { rows, given, counts: { given: size, all: size + present.length } })
  }
  return joined
}

// The whole world is built anew beside the present one: so the records are judged together, as at the start. Generated ids
// come from a seed of their own; one under which an id would be taken already gives way to the next.
async function build(
  sandbox: Sandbox,
  { generate }: Fixtures,
  joined: ReadonlyMap<string, Joined>,
  under: MergeUnder,
): Promise<Store> {
  const collections = Object.fromEntries([...joined].map(([name, { rows }]) => [name, rows]))
  const size = [...joined.values()].reduce((sum, { counts }) => sum + counts.all, 0)
  for (let attempt = 0; ; attempt++) {
    const seed = hash(sandbox.seed, 'fixtures', size, attempt)
    const built = await buildWorld(
      { collections, generate },
      startOf(sandbox, seed, under),
      sandbox.service,
      sandbox.ledger,
    ).catch(refuseGenerator)
    if ('issues' in built) {
      refuseInvalid(built.issues.map((issue) => explained(issue, joined)))
      continue
    }
    const { store } = built.world
    const complete = [...joined].every(
      ([name, { counts }]) => store.rows(name).size === counts.all + Number(generate[name] ?? 0),
    )
    if (complete) return store
  }
}

// A generator that lacks the records it refers to says so in a plain Error, whose message is for the author of the document.
function refuseGenerator(error: unknown): never {
  if (error instanceof Error && error.constructor === Error)
    refuseInvalid([{ pointer: '/generate', detail: error.message }])
  throw error
}

function startOf(sandbox: Sandbox, seed: number, under: MergeUnder) {
  const { now = sandbox.clock.now, settings = sandbox.settings } = under
  return {
    seed,
    now,
    rate: 0,
    skip_on_poll: false,
    settings: settings.overrides as JsonObject,
    strict: settings.strict,
    host: sandbox.options.host,
  }
}

// Positions past the document's own records belong to records of the world, which the client knows by id.
function explained(issue: Issue, joined: ReadonlyMap<string, Joined>): Issue {
  const [, name = '', index = '', rest = ''] =
    /^\/collections\/([^/]+)\/(\d+)(.*)$/s.exec(issue.pointer) ?? []
  const found = joined.get(name)
  if (found === undefined || Number(index) < found.counts.given || !Array.isArray(found.rows)) return issue
  const { id } = found.rows[Number(index)] as { readonly id: string }
  return {
    pointer: pointer('collections', name),
    detail: `The record "${id}" of the world would not be valid any more: ${rest || '/'} ${issue.detail}`,
  }
}
