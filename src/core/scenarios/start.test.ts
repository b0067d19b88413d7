import { expect, test } from 'vitest'
import { clockwork, event, START } from '../../../test/support/clockwork.ts'
import { change } from '../sandboxes/change.ts'
import { activeOn } from './force.ts'
import type { ScenarioDefinition } from './source.ts'
import { startScenario } from './start.ts'

const DAY = 86_400_000

function scenario(name: string, now?: number): { scenario: ScenarioDefinition; fixtures: undefined } {
  const clock = now === undefined ? {} : { clock: { now: new Date(now).toISOString() } }
  const facts = { file: `${name}.ts`, generation: 1, faults: [], stubs: [], timeline: [], on: [] }
  return { scenario: { name, ...facts, ...clock }, fixtures: undefined }
}

test('a scenario that begins after more events than one advance runs is refused with the instant of the clock', async () => {
  const sandbox = await clockwork()
  change(sandbox, ({ schedule }) => schedule(event('chain', 'r/1', START + 1_000)))
  await startScenario(sandbox, scenario('before'))
  const later = scenario('later', START + 2 * DAY)
  await expect(startScenario(sandbox, later)).rejects.toMatchObject({
    code: 'conflict',
    message:
      'The scenario "later" begins at 2026-03-03T12:00:00.000Z, and more than 100000 events are due until then. The clock is at 2026-03-02T15:46:40.000Z. The scenario "before" has been stopped.',
    options: { mitigation: expect.stringContaining('--to 2026-03-03T12:00:00.000Z"; start the') },
  })
  expect(activeOn(sandbox)).toBeUndefined()
  await startScenario(sandbox, later)
  expect([activeOn(sandbox)?.name, sandbox.clock.now]).toEqual(['later', START + 2 * DAY])
})

test('a scenario with its own start instant is refused during an advance, and the active one stays', async () => {
  const sandbox = await clockwork()
  await startScenario(sandbox, scenario('before'))
  sandbox.advances.begin('advance')
  const starting = startScenario(sandbox, scenario('later', START + DAY))
  await expect(starting).rejects.toMatchObject({ code: 'conflict' })
  expect(activeOn(sandbox)?.name).toBe('before')
})
