import { refuse, refuseInvalid } from '../../kernel/errors.ts'
import { type Issue, isObject, type JsonObject, pointer } from '../../kernel/json.ts'
import { armRecord } from '../../kernel/operation.ts'
import { hash } from '../../kernel/random.ts'
import { buildWorld, type Fixtures } from '../../kernel/state/starting-world.ts'
import type { Store } from '../../kernel/state/store.ts'
import type { Sandbox } from '../../kernel/worlds/sandbox.ts'
import { brokenBy } from './references.ts'
import { refuseFixtures } from './refuse-fixtures.ts'

/** The records of one collection: those of the document first, then those of the world that it does not replace. */
interface Joined {
  readonly rows: unknown
  /** Ids of the document's records. */
  readonly given: ReadonlySet<unknown>
  /** How many records there are of the document, and altogether. */
  readonly counts: { readonly given: number; readonly all: number }
}

/**
 * Adds the records of a fixtures document to a world, and those that it asks to generate; a record replaces one with the
 * same id. Relative timestamps count from the world's present instant. All or nothing.
 * @returns how many records were written, by collection
 * @throws Refusal with every issue, by pointer into the document
 */
export async function mergeFixtures(
  sandbox: Sandbox,
  fixtures: Fixtures,
): Promise<Readonly<Record<string, number>>> {
  const joined = join(sandbox, fixtures)
  const store = await build(sandbox, fixtures.generate, joined)
  const { result } = sandbox.change((scope) => {
    const { tx } = scope
    const written = new Map<string, number>()
    for (const [name, { given }] of joined) {
      for (const row of store.rows(name).values()) {
        if (!given.has(row.id) && tx.get(name, row.id) !== undefined) continue
        tx.put(name, row)
        armRecord(sandbox.service, scope, name, row)
        written.set(name, (written.get(name) ?? 0) + 1)
      }
    }
    // While records were generated, another request may have changed what they refer to.
    if (brokenBy(sandbox, tx).length > 0) {
      refuse('conflict', {
        detail: 'The world changed while the records were made.',
        mitigation: 'Send the document again.',
      })
    }
    return Object.fromEntries(written)
  })
  return result
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
  generate: Fixtures['generate'],
  joined: ReadonlyMap<string, Joined>,
): Promise<Store> {
  const collections = Object.fromEntries([...joined].map(([name, { rows }]) => [name, rows]))
  const size = [...joined.values()].reduce((sum, { counts }) => sum + counts.all, 0)
  for (let attempt = 0; ; attempt++) {
    const seed = hash(sandbox.seed, 'fixtures', size, attempt)
    const built = await buildWorld(
      { collections, generate },
      startOf(sandbox, seed),
      sandbox.service,
      sandbox.ledger,
    ).catch((error) => refuseFixtures(error, ''))
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

function startOf({ clock, settings, options }: Sandbox, seed: number) {
  return {
    seed,
    now: clock.now,
    rate: 0,
    skip_on_poll: false,
    settings: settings.overrides as JsonObject,
    strict: settings.strict,
    host: options.host,
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
