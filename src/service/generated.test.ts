import { expect, test } from 'vitest'
import { START } from '../../test/support/base-state.ts'
import { documentOf, records } from '../../test/support/starting-states.ts'
import { Settings } from '../core/assumptions.ts'
import { seal } from '../core/secrets.ts'
import { countsAt } from './batch-predictions/outcomes.ts'
import { resultLines } from './batch-predictions/responses.ts'
import type { Batch } from './batch-predictions/schema.ts'

const NOW = Date.parse(START)

const collections = {
  organizations: [{ id: 'org-1', name: 'O' }],
  teamspaces: ['ts-a', 'ts-b'].map((id) => ({
    ...{ id, cloud_provider: 'cloud_b', name: 'T', access: 'closed', created_at: '-1d' },
    _emulator: { organization_id: 'org-1' },
  })),
}

const AGENTS = { agents: 3, agent_templates: 4, automations: 5, event_triggers: 60 }
const COUNTS = { ...AGENTS, files: 40, batch_predictions: 30 }

const generated = (generate: object = COUNTS, settings = {}) =>
  documentOf({ collections, generate: { ...generate } }, { settings })

const PEOPLE = { organizations: 3, teamspaces: 6, users: 40, memberships: 40 }
const CONTENT = {
  ...{ pages: 50, conversations: 20, messages: 40 },
  ...{ skills: 22, data_views: 10, consumption_rows: 100 },
}

test('records of every collection are generated in the requested number', {
  tags: ['R014', 'R284'],
}, async () => {
  const counts = { ...COUNTS, ...PEOPLE, ...CONTENT }
  const document = await generated(counts)
  // The fixtures have an organization and two teamspaces of their own.
  for (const [name, count] of Object.entries({ ...counts, organizations: 4, teamspaces: 8 }))
    expect([name, records(document, name).length]).toEqual([name, count])
  const teamspaces = new Set(records(document, 'pages').map(({ teamspace_id }) => teamspace_id))
  expect(teamspaces.size).toBeGreaterThan(1)
  const agents = new Set(records(document, 'agents').map(({ id }) => id))
  const triggers = records(document, 'event_triggers')
  expect(triggers.filter(({ _emulator }) => !agents.has(_emulator.agent_id))).toEqual([])
  expect(new Set(triggers.map(({ trigger_source }) => trigger_source)).size).toBe(3)
})

test('generated triggers fit any names of the three providers', { tags: ['R069'] }, async () => {
  const settings = { 'names.trigger_sources': ['builder', 'papers', 'drive'] }
  expect(records(await generated(COUNTS, settings), 'event_triggers')).toHaveLength(60)
})

test('the token of a generated template is predictable', { tags: ['R119'] }, async () => {
  const [template] = records(await generated(), 'agent_templates')
  expect(template.claim_token).toBe(seal('generated-claim-token-0'))
})

test('generated batches are completed, have all their results, and name files of their teamspace', async () => {
  const document = await generated()
  const files = new Map(records(document, 'files').map((file) => [file.id, file]))
  expect(new Set([...files.values()].map(({ pages }) => pages === null)).size).toBe(2)
  for (const batch of records(document, 'batch_predictions') as Batch[]) {
    const { teamspace_id, request } = batch._emulator
    for (const { file_id } of request.items) expect(files.get(file_id).teamspace_id).toBe(teamspace_id)
    const { total, succeeded } = countsAt(batch, NOW)
    const lines = [...resultLines(batch, { settings: new Settings(), controlUrl: '' })]
    expect([succeeded, lines.length]).toEqual([total, total])
    expect(Date.parse(batch.completed_at ?? '')).toBeLessThan(NOW)
    expect(Date.parse(batch.created_at)).toBeGreaterThan(NOW - 29 * 86_400_000)
  }
})
