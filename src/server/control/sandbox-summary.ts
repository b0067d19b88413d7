import { z } from 'zod'
import { type ShapeOf, timestamp } from '../../core/fields.ts'
import type { Sandbox } from '../../core/sandboxes/sandbox.ts'
import { formatInstant } from '../../core/time/instant.ts'

/** The content of a sandbox after its state was replaced, in numbers. */
export const sandboxSummary = () =>
  z.strictObject({
    sandbox: z.string(),
    /** Number of the last commit. */
    revision: z.int(),
    seed: z.int(),
    /** Virtual instant. */
    now: timestamp(),
    /** Number of records, by collection. */
    records: z.record(z.string(), z.int()),
  })

export type SandboxSummary = ShapeOf<typeof sandboxSummary>

export function describeSandbox(sandbox: Sandbox): SandboxSummary {
  const { collections } = sandbox.service
  const names = [...collections.keys(), ...sandbox.store.own(collections)]
  const counts = names.map((name) => [name, sandbox.store.rows(name).size] as const)
  return {
    sandbox: sandbox.name,
    revision: sandbox.store.revision,
    seed: sandbox.seed,
    now: formatInstant(sandbox.clock.now),
    records: Object.fromEntries(counts),
  }
}
