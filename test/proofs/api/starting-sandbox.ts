import { faultHooks } from '../../../src/core/faults/hooks.ts'
import type { JsonObject } from '../../../src/core/json.ts'
import { Sandbox, type SandboxOptions, sandboxDefaults } from '../../../src/core/sandboxes/sandbox.ts'
import type { SandboxState } from '../../../src/core/state/state.ts'
import { workspaceService } from '../../../src/emulator/service.ts'
import { baseCollections, START } from '../../support/base-state.ts'
import { builtState, startAt } from '../../support/built-state.ts'

export interface Origin {
  readonly options: SandboxOptions
  readonly start: SandboxState
}

const files = [{ id: 'file-pdf', teamspace_id: 'ts-a', name: 'a.pdf', kind: 'pdf', pages: 10 }]

/**
 * The origin of {@link sandboxFrom}, which creates a separate sandbox on each call: no rate limits, frozen clock.
 * @param extra records in addition to those of the base sandbox
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
  const start = await builtState({ collections }, startAt(now, { settings }), workspaceService)
  const onDefect = (error: unknown): never => {
    throw error
  }
  const given = { service: workspaceService, hooks: faultHooks, enforceLimits: false, host, onDefect }
  return { options: { ...sandboxDefaults, ...given }, start }
}

export function sandboxFrom({ options, start }: Origin): Sandbox {
  return new Sandbox(options, start)
}
