import type { FixturesDocument } from '../adapters/fixtures.ts'
import type { JsonObject } from '../core/json.ts'
import { keysIn, knownKeys, type PlainKey, readyKeys, type SandboxKeys } from '../core/request/plain-keys.ts'
import { seal } from '../core/secrets.ts'
import type { Document } from '../core/state/state.ts'
import type { ScenarioStart } from '../server/control/routes/scenarios.ts'
import type { SandboxSummary } from '../server/control/sandbox-summary.ts'
import type { StartingPoint } from '../server/control/starting-point.ts'
import type { CallControl } from './ask.ts'
import { EmulatorError } from './emulator-error.ts'
import { scenariosOver } from './parts.ts'
import { type StateRecord, snapshotsOver, stateOver } from './state.ts'

/** A starting state: the name of shipped fixtures, the path of a file, or a document. */
export type FixturesSource = string | JsonObject

/**
 * The keys of one sandbox whose plain text is known. The sandbox has only digests, which keys from documents are compared with.
 */
export class KnownKeys {
  readonly #given: string | undefined
  #unread: FixturesSource[]
  #written: PlainKey[] = []
  #known: SandboxKeys | undefined
  #isGivenKnown = true

  /** @param given the key for calls, if the sandbox has it or if no other key is known */
  constructor(given: string | undefined, ...fixtures: readonly FixturesSource[]) {
    this.#given = given
    this.#unread = [...fixtures]
  }

  get haveBeenLookedUp(): boolean {
    return this.#known !== undefined
  }

  /** Throws {@link EmulatorError} (`keys_not_looked_up`) before the first look. */
  get keys(): SandboxKeys {
    return this.#known ?? refuseEarly()
  }

  /** Throws {@link EmulatorError} (`no_known_key`) if no key is known. */
  get apiKey(): string {
    if (this.#given !== undefined && this.#isGivenKnown) return this.#given
    const { user, service } = this.keys
    return user ?? service ?? this.#given ?? refuseUnknown()
  }

  /** Adds a starting state that the sandbox may have from now on. */
  expect(fixtures: FixturesSource): void {
    this.#unread.push(fixtures)
  }

  /** Adds records of keys that the sandbox may have from now on. */
  expectRecords(records: unknown): void {
    this.#written = [...this.#written, ...keysIn(records)]
  }

  /** Adds the keys of another sandbox, which this one may have too. */
  expectThoseOf(other: KnownKeys): void {
    this.#unread = [...this.#unread, ...other.#unread]
    this.#written = [...this.#written, ...other.#written]
  }

  /** @param tokens the digests of the keys, as the sandbox stores them */
  async look(tokens: readonly unknown[]): Promise<void> {
    const unread = this.#unread
    this.#unread = []
    for (const fixtures of unread) for (const key of await shownIn(fixtures)) this.#written.push(key)
    this.#known = readyKeys(unique(knownKeys(this.#written, tokens)))
    this.#isGivenKnown = this.#given !== undefined && tokens.includes(seal(this.#given))
  }
}

// Fixtures that cannot be read contain no keys: the emulator has refused them, or has other ones.
async function shownIn(fixtures: FixturesSource): Promise<PlainKey[]> {
  const { writtenKeys } = await import('../adapters/fixtures.ts')
  return writtenKeys(fixtures).catch(() => [])
}

function unique(keys: readonly PlainKey[]): PlainKey[] {
  return [...new Map(keys.map((key) => [key.token, key])).values()]
}

function refuseEarly(): never {
  throw new EmulatorError({
    status: 0,
    code: 'keys_not_looked_up',
    detail: 'The keys of this sandbox have not been requested from the emulator yet.',
    mitigation: 'Await ready(), sandbox() or a fetch() first, or give connect() an apiKey.',
  })
}

function refuseUnknown(): never {
  throw new EmulatorError({
    status: 0,
    code: 'no_known_key',
    detail:
      'No key of this sandbox is known in plain text: it stores only digests, and no key in its fixtures matches one of them.',
    mitigation:
      "Give connect() an apiKey, or write a key: sandbox.state.put('api_keys', { id, kind: 'user', token, user_id, organization_id, teamspace_id }).",
  })
}

const KEYS = 'api_keys'

/** The parts of a sandbox that can change its keys. Each of them looks up the keys again after such a change. */
export function keyKeepers(ask: CallControl, keys: KnownKeys, lookUp: () => Promise<void>) {
  const snapshots = snapshotsOver(ask)
  const scenarios = scenariosOver(ask)
  const state = stateOver(ask)
  const after = async <T>(work: Promise<T>): Promise<T> => {
    const done = await work
    await lookUp()
    return done
  }
  const afterKeys = <T>(collection: string, work: Promise<T>) => (collection === KEYS ? after(work) : work)
  return {
    snapshots: { ...snapshots, restore: (name: string) => after(snapshots.restore(name)) },
    scenarios: {
      ...scenarios,
      start: (name: string, options?: ScenarioStart) => after(scenarios.start(name, options)),
    },
    state: {
      ...state,
      load: (document: Document) => after(state.load(document)),
      merge: (fixtures: FixturesDocument) => {
        keys.expectRecords(fixtures.collections?.[KEYS])
        return after(state.merge(fixtures))
      },
      put: <T extends object = StateRecord>(collection: string, record: StateRecord) => {
        if (collection === KEYS) keys.expectRecords([record])
        return afterKeys(collection, state.put<T>(collection, record))
      },
      patch: <T extends object = StateRecord>(collection: string, id: string, patch: object) =>
        afterKeys(collection, state.patch<T>(collection, id, { ...patch })),
      delete: (collection: string, id: string) => afterKeys(collection, state.delete(collection, id)),
    },
    /** Starts the sandbox again: records, clock, settings, faults and request log. */
    reset: async (start: StartingPoint = {}): Promise<SandboxSummary> => {
      if (start.fixtures !== undefined) keys.expect(start.fixtures as FixturesSource)
      return after(ask('POST /reset', { body: start }))
    },
  }
}
