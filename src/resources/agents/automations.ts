import * as z from 'zod'
import { timestamp } from '../../kernel/fields.ts'
import type { Caller } from '../../kernel/request/auth.ts'
import { collection } from '../../kernel/state/collection.ts'
import type { Transaction } from '../../kernel/state/store.ts'
import { missing } from '../missing.ts'
import { type OpaqueRecord, opaqueRecord } from '../opaque.ts'
import { requireVisible } from '../visible.ts'
import { requireAgent } from './agents.ts'
import { cronExpression } from './cron.ts'
import { agents } from './schema.ts'

const facts = () =>
  z.strictObject({
    agent_id: z.string(),
    /** When it fires, on the virtual clock; null: never. */
    schedule: cronExpression().nullable().default(null),
    deleted_at: timestamp().nullable().default(null),
  })

export type Automation = OpaqueRecord<z.output<ReturnType<typeof facts>>>

export const automations = collection<Automation>({
  name: 'automations',
  label: 'automation',
  schema: () => opaqueRecord(facts()),
  check: ({ _emulator }, tx) => missing(tx, agents, _emulator.agent_id, '_emulator', 'agent_id'),
  generate: ({ faker, newId, any }) => ({
    id: newId(),
    name: faker.hacker.verb(),
    _emulator: { agent_id: any(agents).id, schedule: null, deleted_at: null },
  }),
})

/** An automation that is not deleted, of an agent of the caller's teamspace, or `not_found`. */
export function requireAutomation(
  tx: Transaction,
  caller: Caller,
  params: Readonly<Record<string, string>>,
): Automation {
  const agent = requireAgent(tx, caller, params.agent_id)
  return requireVisible(tx, automations, params.automation_id, ({ _emulator }) => {
    return _emulator.agent_id === agent.id && _emulator.deleted_at === null
  })
}
