import type { JsonObject } from '../../../core/json.ts'
import { seal } from '../../../core/secrets.ts'
import type { Document } from '../../../core/state/state.ts'
import { keysIn, knownKeys, type PlainKey, readyKeys, type SandboxKeys, writtenKeys } from '../../fixtures.ts'
import type { ScenarioStart } from '../routes/scenarios.ts'
import type { SandboxSummary } from '../sandbox-summary.ts'
import type { FixturesDocument, StartingPoint } from '../starting-point.ts'
import type { Ask } from './ask.ts'
import { EmulatorError } from './emulator-error.ts'
import { scenariosOver } from './parts.ts'
import { type StateRecord, snapshotsOver, stateOver } from './state.ts'

/** A starting state: a shipped name, a file, or a document. */
export type FixturesSource = string | JsonObject

/**
 * The keys of one sandbox, as far as anybody knows them in plain text: those that documents show are held against the digests
 * that the sandbox has.
 */
export class KnownKeys {
  readonly #given: string | undefined
  #unread: FixturesSource[]
  #written: PlainKey[] = []
  #known: SandboxKeys | undefined
  #isGivenKnown = true

  /** @param given the key that calls are to be made with, where the sandbox knows it or no other is known */
  constructor(given: string | undefined, ...fixtures: readonly FixturesSource[]) {
    this.#given = given
    this.#unread = [...fixtures]
  }

  get haveBeenLookedUp(): boolean {
    return this.#known !== undefined
  }

  /** Throws {@link EmulatorError} before anybody has looked. */
  get keys(): SandboxKeys {
    return this.#known ?? refuseEarly()
  }

  /** Throws {@link EmulatorError} where none is known. */
  get apiKey(): string {
    if (this.#given !== undefined && this.#isGivenKnown) return this.#given
    const { user, service } = this.keys
    return user ?? service ?? this.#given ?? refuseUnknown()
  }

  /** A starting state that the sandbox may be made of from now on. */
  expect(fixtures: FixturesSource): void {
    this.#unread.push(fixtures)
  }

  /** Records of keys that the sandbox may have from now on. */
  expectRecords(records: unknown): void {
    this.#written.push(...keysIn(records))
  }

  /** The keys of another sandbox may be here, too. */
  expectThoseOf(other: KnownKeys): void {
    this.#unread.push(...other.#unread)
    this.#written.push(...other.#written)
  }

  /** @param tokens those of the sandbox, as it keeps them */
  async look(tokens: readonly unknown[]): Promise<void> {
    const unread = this.#unread
    this.#unread = []
    for (const fixtures of unread) this.#written.push(...(await shownIn(fixtures)))
    this.#known = readyKeys(unique(knownKeys(this.#written, tokens)))
    this.#isGivenKnown = this.#given !== undefined && tokens.includes(seal(this.#given))
  }
}

// What cannot be read shows nothing: the emulator has refused it, or started from something else.
function shownIn(fixtures: FixturesSource): Promise<PlainKey[]> {
  return writtenKeys(fixtures).catch(() => [])
}

function unique(keys: readonly PlainKey[]): PlainKey[] {
  return [...new Map(keys.map((key) => [key.token, key])).values()]
}

function refuseEarly(): never {
  throw new EmulatorError({
    status: 0,
    code: 'keys_not_looked_up',
    detail: 'Nobody has asked the emulator yet which keys this sandbox has.',
    mitigation: 'Await ready(), sandbox() or a fetch() first, or give connect() an apiKey.',
  })
}

function refuseUnknown(): never {
  throw new EmulatorError({
    status: 0,
    code: 'no_known_key',
    detail:
      'No key of this sandbox is known in plain text: it keeps digests alone, and what its fixtures show fits none of them.',
    mitigation:
      "Give connect() an apiKey, or write one: sandbox.state.put('api_keys', { id, kind: 'user', token, user_id, organization_id, teamspace_id }).",
  })
}

const KEYS = 'api_keys'

/** The parts of a sandbox that can change which keys it has: each looks them up anew when it has done so. */
export function keyKeepers(ask: Ask, keys: KnownKeys, lookUp: () => Promise<void>) {
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
    reset: async (start: StartingPoint = {}): Promise<SandboxSummary> => {
      if (start.fixtures !== undefined) keys.expect(start.fixtures as FixturesSource)
      return after(ask('POST /reset', { body: start }))
    },
  }
}
