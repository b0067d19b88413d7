import { expect, test } from 'vitest'
import { opened } from '../../../test/support/edited-file.ts'
import { said } from '../../../test/support/state-files.ts'
import { change } from '../../core/sandboxes/change.ts'
import { SCENARIO } from '../../core/scenarios/row.ts'
import { SANDBOX_TABLE } from '../../core/state/state.ts'

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

test('an edit of the file can add and remove a scenario and stubs', async () => {
  const emulator = await opened()
  emulator.edit((document) => {
    document.scenario = scenario
    document.stubs.push({ id: 's', source: 'control', method: 'GET', path: '/x', status: 200, headers: {} })
  })
  await emulator.persistence.checkpointNow()
  expect(emulator.sandbox.store.get(SANDBOX_TABLE, SCENARIO)).toEqual({ id: SCENARIO, ...scenario })
  expect(emulator.sandbox.document().stubs).toMatchObject([{ id: 's', path: '/x' }])
  emulator.edit((document) => {
    document.scenario = null
    document.stubs = []
  })
  await emulator.persistence.checkpointNow()
  expect(emulator.sandbox.document()).toMatchObject({ scenario: null, stubs: [] })
  expect(said(emulator)).toEqual(['edit_taken', 'edit_taken'])
})

test('an edit that replaces a scenario which changed after the file was written reports the replaced one', async () => {
  const emulator = await opened()
  change(emulator.sandbox, ({ tx }) => tx.put(SANDBOX_TABLE, { id: SCENARIO, ...scenario } as never))
  await emulator.persistence.checkpointNow()
  emulator.edit((document) => {
    document.scenario.on = ['batch.completed']
  })
  change(emulator.sandbox, ({ tx }) =>
    tx.put(SANDBOX_TABLE, { id: SCENARIO, ...scenario, generation: 2 } as never),
  )
  await emulator.persistence.checkpointNow()
  expect(emulator.sandbox.document().scenario).toMatchObject({ generation: 1, on: ['batch.completed'] })
  expect(emulator.notices.at(-1)?.message).toContain('scenario')
})
