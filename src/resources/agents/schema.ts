import * as z from 'zod'
import { anyObject, nonEmptyText, timestamp } from '../../kernel/fields.ts'
import { collection } from '../../kernel/state/collection.ts'
import { DAY } from '../../kernel/time/duration.ts'
import { missing } from '../missing.ts'
import { type OpaqueRecord, opaqueRecord } from '../opaque.ts'
import { teamspaces } from '../teamspaces/schema.ts'

const agentFacts = () => z.strictObject({ teamspace_id: z.string() })

export type Agent = OpaqueRecord<z.output<ReturnType<typeof agentFacts>>>

export const agents = collection<Agent>({
  name: 'agents',
  label: 'agent',
  schema: () => opaqueRecord(agentFacts()),
  check: ({ _emulator }, tx) => missing(tx, teamspaces, _emulator.teamspace_id, '_emulator', 'teamspace_id'),
  generate: ({ faker, chance, newId, ago, any }) => ({
    id: newId(),
    name: `${faker.person.jobArea()} ${faker.person.jobType()}`,
    created_at: ago(chance.int(1, 300) * DAY),
    _emulator: { teamspace_id: any(teamspaces).id },
  }),
})

/** What a run may keep of what a provider told: characters of JSON. One event can make many runs, and each keeps it. */
const LONGEST_PAYLOAD = 65_536

/** What a provider tells beside the name of its event: any object of at most 65,536 characters of JSON. */
export const eventPayload = () =>
  anyObject().refine((payload) => JSON.stringify(payload).length <= LONGEST_PAYLOAD, {
    error: `must have at most ${LONGEST_PAYLOAD} characters as JSON, because every run that it causes keeps it`,
  })

const runRecord = () =>
  z.strictObject({
    id: nonEmptyText(),
    agent_id: z.string(),
    automation_id: z.string().nullable().default(null),
    trigger_id: z.string().nullable().default(null),
    thread_id: z.string().nullable().default(null),
    status: z.enum(['queued', 'executed', 'dropped']),
    queued_at: timestamp(),
    executed_at: timestamp().nullable().default(null),
    /** In words: what made the agent run. */
    cause: z.string().default(''),
    /** The provider event that fired the trigger, and what it told. */
    event_id: z.string().nullable().default(null),
    payload: eventPayload().nullable().default(null),
  })

export type AgentRun = z.output<ReturnType<typeof runRecord>>

/** The run history of agents, which the API never shows. It outlives the automation or trigger that a run came from. */
export const agentRuns = collection<AgentRun>({ name: 'agent_runs', label: 'agent run', schema: runRecord })
