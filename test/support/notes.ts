import type { JsonObject } from '../../src/core/json.ts'
import { operation } from '../../src/core/operation.ts'
import { Sandbox, type SandboxOptions, sandboxDefaults } from '../../src/core/sandboxes/sandbox.ts'
import { type Resource, service } from '../../src/core/service.ts'
import { serviceFacts } from '../../src/emulator/service.ts'
import { builtState, startAt } from './built-state.ts'

/** The instant at which the sandboxes of {@link sandboxOf} start. */
export const START = Date.parse('2026-03-01T12:00:00.000Z')

/** The smallest operation that writes a record. */
export const createNote = operation({
  name: 'notes.create',
  method: 'POST',
  path: '/notes',
  summary: 'Write a note',
  section: 'none',
  errorFormat: 'standard',
  contract: true,
  success: 200,
  handle: ({ tx, newId }) => {
    const record = { id: newId() }
    tx.put('notes', record)
    return { body: record }
  },
})

interface SandboxPlan {
  /** Ids of API keys; the user and teamspace of a key have the same id, and the id is also the token. */
  readonly keys: readonly string[]
  readonly settings?: JsonObject
  readonly rate?: number
  readonly host?: () => number
  readonly options?: Partial<SandboxOptions>
}

/** A sandbox of a service with one resource. */
export async function sandboxOf(
  resource: Resource,
  { keys, settings = {}, rate = 0, host = () => START, options = {} }: SandboxPlan,
): Promise<Sandbox> {
  const all = service([resource], serviceFacts)
  const start = startAt(START, { rate, settings, host })
  const owner = { kind: 'user', user_id: 'u', organization_id: 'o' }
  const api_keys = keys.map((id) => ({ ...owner, id, token: id, teamspace_id: id }))
  const state = await builtState({ collections: { api_keys } }, start, all)
  return new Sandbox({ ...sandboxDefaults, service: all, host, ...options }, state)
}
