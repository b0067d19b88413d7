import type { Sandbox } from '../../core/sandboxes/sandbox.ts'
import { formatInstant } from '../../core/time/instant.ts'

/** What there is in a sandbox, by collection, after it has been replaced. */
export function summaryOf(sandbox: Sandbox) {
  const counts = [...sandbox.service.collections.keys()].map(
    (name) => [name, sandbox.store.rows(name).size] as const,
  )
  return {
    sandbox: sandbox.name,
    revision: sandbox.store.revision,
    seed: sandbox.seed,
    now: formatInstant(sandbox.clock.now),
    records: Object.fromEntries(counts),
  }
}
