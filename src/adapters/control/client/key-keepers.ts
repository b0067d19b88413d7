import type { Ask } from './ask.ts'
import type { FixturesSource, KnownKeys } from './known-keys.ts'
import type { SandboxClient } from './sandbox.ts'
import { scenariosOver } from './scenarios.ts'
import { snapshotsOver } from './snapshots.ts'
import { stateOver } from './state.ts'

const KEYS = 'api_keys'

/** The parts of a sandbox that can change which keys it has: each looks them up anew when it has done so. */
export function keyKeepers(
  ask: Ask,
  keys: KnownKeys,
  lookUp: () => Promise<void>,
): Pick<SandboxClient, 'scenarios' | 'snapshots' | 'state' | 'reset'> {
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
    snapshots: { ...snapshots, restore: (name) => after(snapshots.restore(name)) },
    scenarios: { ...scenarios, start: (name, options) => after(scenarios.start(name, options)) },
    state: {
      ...state,
      load: (document) => after(state.load(document)),
      merge: (fixtures) => {
        keys.expectRecords(fixtures.collections?.[KEYS])
        return after(state.merge(fixtures))
      },
      put: (collection, record) => {
        if (collection === KEYS) keys.expectRecords([record])
        return afterKeys(collection, state.put(collection, record))
      },
      patch: (collection, id, patch) => afterKeys(collection, state.patch(collection, id, patch)),
      delete: (collection, id) => afterKeys(collection, state.delete(collection, id)),
    },
    reset: async (start = {}) => {
      if (start.fixtures !== undefined) keys.expect(start.fixtures as FixturesSource)
      return after(ask('POST /reset', { body: start }))
    },
  }
}
