import type { JsonObject } from '../../../src/core/json.ts'
import { type InternalOptions, openEmulator, type RunningEmulator } from '../../../src/emulator/emulator.ts'
import { baseCollections, START } from '../../support/base-state.ts'
import { consumptionRow } from '../../support/consumption-row.ts'
import { sampleRecords } from '../../support/sample-calls.ts'

/** The number of records of each kind that can be used only once. */
export const MANY = 40

const JANUARY = '2026-01-01T00:00:00.000Z'
const uuidOf = (n: number) => `${String(n).padStart(8, '0')}-2222-4333-8444-555555555555`

/** The conversation and id of the n-th message of the sandbox. */
export const messageOf = (n: number) => ({ conversation_id: `conversation-${n + 10}`, message_id: uuidOf(n) })

/** The n-th OAuth flow, which waits for its callback. */
export const flowOf = (n: number) => ({ state: `state-${n}`, redirect_uri: 'https://app.example/callback' })

/** Records of each kind, enough that some are left after requests have used others up. */
export function busyCollections(): Readonly<Record<string, readonly object[]>> {
  const numbers = Array.from({ length: MANY }, (_, n) => n)
  const like = (name: string, change: (n: number) => object): object[] => {
    const [first] = sampleRecords[name] ?? []
    return numbers.map((n) => ({ ...first, ...change(n) }))
  }
  const more: Readonly<Record<string, readonly object[]>> = {
    skills: like('skills', (n) => ({ id: `skill-${n + 10}` })),
    oauth_flows: like('oauth_flows', (n) => ({ id: `flow-${n + 10}`, ...flowOf(n) })),
    data_views: like('data_views', (n) => ({ id: `view-${n + 10}` })),
    conversations: like('conversations', (n) => ({ id: `conversation-${n + 10}` })),
    messages: like('messages', (n) => ({
      id: uuidOf(n),
      _emulator: { conversation_id: messageOf(n).conversation_id, kind: 'agent' },
    })),
    agent_templates: like('agent_templates', (n) => {
      return { id: `template-${n + 10}`, claim_token: `claim-${n + 10}` }
    }),
    automations: like('automations', (n) => ({ id: `automation-${n + 10}` })),
    event_triggers: like('event_triggers', (n) => ({ id: `trigger-${n + 10}` })),
    consumption_rows: numbers.map((n) => {
      const at = `2026-02-${String(1 + (n % 28)).padStart(2, '0')}T00:00:00.000Z`
      return consumptionRow(`row-${n}`, at, { credits: n, action: 'run', resource: 'agent' })
    }),
    users: numbers.map((n) => {
      const name = { first_name: 'User', last_name: `Number ${n}`, email: `user.${n}@example.com` }
      return { id: `user-${n}`, organization_id: 'org-1', ...name, created_at: JANUARY }
    }),
    memberships: numbers.map((n) => {
      const who = { user_id: `user-${n}`, role: 'member', agent_ids: [] }
      return { id: `m-${n}`, teamspace_id: 'ts-a', ...who, created_at: JANUARY }
    }),
    files: [
      { id: 'file-sheet', teamspace_id: 'ts-a', name: 'b.xlsx', kind: 'spreadsheet', pages: null },
      { id: 'file-archive', teamspace_id: 'ts-a', name: 'c.zip', kind: 'archive', supported: false },
      { id: 'file-elsewhere', teamspace_id: 'ts-b', name: 'e.pdf', kind: 'pdf', pages: 10 },
    ],
  }
  const sources = [baseCollections, sampleRecords, more]
  const names = new Set(sources.flatMap(Object.keys))
  return Object.fromEntries([...names].map((name) => [name, sources.flatMap((each) => each[name] ?? [])]))
}

/** An emulator of a busy sandbox, in memory, with a clock frozen at {@link START}. */
export interface ProofEmulator {
  readonly emulator: RunningEmulator
  readonly defects: readonly unknown[]
}

export async function proofEmulator(options: InternalOptions = {}): Promise<ProofEmulator> {
  const defects: unknown[] = []
  const emulator = await openEmulator({
    port: 0,
    clock: START,
    rate: 0,
    ephemeral: true,
    fixtures: { collections: busyCollections() } as unknown as JsonObject,
    logger: { info: () => {}, warn: () => {}, error: (_message, fields) => defects.push(fields?.error) },
    ...options,
  })
  return { emulator, defects }
}
