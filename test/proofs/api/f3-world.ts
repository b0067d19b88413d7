import type { JsonObject } from '../../../src/kernel/json.ts'
import { buildWorld } from '../../../src/kernel/state/starting-world.ts'
import type { WorldState } from '../../../src/kernel/state/state.ts'
import { Sandbox } from '../../../src/kernel/worlds/sandbox.ts'
import { type WorldOptions, worldDefaults } from '../../../src/kernel/worlds/world.ts'
import { ledger, workspaceService } from '../../../src/resources/index.ts'
import { baseCollections, START } from '../../support/base-world.ts'

/** What sandboxes of one world are made from. */
export interface Origin {
  readonly options: WorldOptions
  readonly start: WorldState
}

const files = [{ id: 'file-pdf', teamspace_id: 'ts-a', name: 'a.pdf', kind: 'pdf', pages: 10 }]

/**
 * A world of its own for each call of {@link sandboxFrom}, without rate limits, its clock standing still.
 * @param extra records beside those of the base world
 */
export async function originOf(
  settings: JsonObject,
  extra: Readonly<Record<string, readonly object[]>> = {},
): Promise<Origin> {
  const now = Date.parse(START)
  const collections = { ...baseCollections, files }
  for (const [name, records] of Object.entries(extra))
    Object.assign(collections, { [name]: [...(baseCollections[name] ?? []), ...records] })
  const host = () => now
  const begin = { seed: 1, now, rate: 0, skip_on_poll: false, settings, strict: false, host }
  const built = await buildWorld({ collections, generate: {} }, begin, workspaceService, ledger)
  if ('issues' in built) throw new Error(JSON.stringify(built.issues))
  const onSurprise = (error: unknown): never => {
    throw error
  }
  const options = {
    ...worldDefaults,
    service: workspaceService,
    ledger,
    enforceLimits: false,
    host,
    onSurprise,
  }
  return { options, start: built.world }
}

/** A sandbox that starts as the world stands. */
export function sandboxFrom({ options, start }: Origin): Sandbox {
  return new Sandbox(options, start)
}
