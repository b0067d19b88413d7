import { expect, test } from 'vitest'
import { seal } from '../../core/secrets.ts'
import { buildStartingState } from '../../core/state/starting-state.ts'
import { workspaceService } from '../../emulator/service.ts'
import { eventTriggers } from './schema.ts'

const start = {
  seed: 7,
  now: Date.UTC(2026, 2, 1),
  rate: 0,
  skip_on_poll: false,
  strict: false,
  host: () => 0,
}

const counts = { agents: 3, agent_templates: 4, automations: 5, event_triggers: 60 }

async function generated(settings = {}) {
  const collections = {
    organizations: [{ id: 'o', name: 'O' }],
    teamspaces: [
      {
        id: 't',
        cloud_provider: 'cloud_b',
        name: 'T',
        access: 'open',
        created_at: '-1d',
        _emulator: { organization_id: 'o' },
      },
    ],
  }
  const fixtures = { collections, generate: counts }
  const built = await buildStartingState(fixtures, { ...start, settings }, workspaceService)
  if ('issues' in built) throw new Error(JSON.stringify(built.issues))
  return built.state.store
}

test('records of agents are generated in any number, and refer to each other', async () => {
  const store = await generated()
  for (const [name, count] of Object.entries(counts)) expect(store.rows(name).size).toBe(count)
  const agents = store.rows('agents')
  const triggers = store
    .begin()
    .in(eventTriggers)
    .filter(() => true)
  expect(triggers.filter(({ _emulator }) => !agents.has(_emulator.agent_id))).toEqual([])
  expect(new Set(triggers.map(({ trigger_source }) => trigger_source)).size).toBe(3)
})

test('generated triggers fit any names of the three providers', { tags: ['R069'] }, async () => {
  const store = await generated({ 'names.trigger_sources': ['builder', 'papers', 'drive'] })
  expect(store.rows('event_triggers').size).toBe(60)
})

test('the token of a generated template is predictable, although the sandbox keeps only its digest', {
  tags: ['R119'],
}, async () => {
  const [template] = (await generated()).rows('agent_templates').values()
  expect(template).toMatchObject({ claim_token: seal('generated-claim-token-0') })
})
