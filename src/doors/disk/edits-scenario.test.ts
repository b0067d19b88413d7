import { expect, test } from 'vitest'
import { opened } from '../../../test/support/edited-file.ts'
import { said } from '../../../test/support/state-files.ts'
import { SCENARIO } from '../../kernel/scenario/row.ts'
import { WORLD } from '../../kernel/state/state.ts'

const scenario = {
  name: 's',
  generation: 1,
  started_at: '2026-03-01T12:00:00.000Z',
  settings: [],
  faults: [],
  stubs: [],
  timeline: [],
  on: [],
}

test('a scenario and stubs that are written into the file by hand are taken, and so is their removal', async () => {
  const world = await opened()
  world.edit((document) => {
    document.scenario = scenario
    document.stubs.push({ id: 's', source: 'control', method: 'GET', path: '/x', status: 200, headers: {} })
  })
  await world.persistence.checkpointNow()
  expect(world.sandbox.store.get(WORLD, SCENARIO)).toEqual({ id: SCENARIO, ...scenario })
  expect(world.sandbox.document().stubs).toMatchObject([{ id: 's', path: '/x' }])
  world.edit((document) => {
    document.scenario = null
    document.stubs = []
  })
  await world.persistence.checkpointNow()
  expect(world.sandbox.document()).toMatchObject({ scenario: null, stubs: [] })
  expect(said(world)).toEqual(['edit_taken', 'edit_taken'])
})

test('an edit that replaces a scenario which has been swapped meanwhile keeps the other one beside', async () => {
  const world = await opened()
  world.sandbox.change(({ tx }) => tx.put(WORLD, { id: SCENARIO, ...scenario } as never))
  await world.persistence.checkpointNow()
  world.edit((document) => {
    document.scenario.on = ['batch.completed']
  })
  world.sandbox.change(({ tx }) => tx.put(WORLD, { id: SCENARIO, ...scenario, generation: 2 } as never))
  await world.persistence.checkpointNow()
  expect(world.sandbox.document().scenario).toMatchObject({ generation: 1, on: ['batch.completed'] })
  expect(world.notices.at(-1)?.message).toContain('scenario')
})
