import type { ScenarioCommand } from '../../src/core/scenarios/source.ts'
import { type TestEmulatorOptions, testEmulator } from './emulator.ts'
import { MemoryScenarios, type TestScenario } from './memory-scenarios.ts'

export type ScenarioEmulator = Awaited<ReturnType<typeof scenarioEmulator>>

/** A sandbox with scenarios in memory instead of files. */
export async function scenarioEmulator(
  scenarios: Readonly<Record<string, TestScenario>>,
  options: TestEmulatorOptions = {},
) {
  const source = new MemoryScenarios(scenarios)
  const files = [{ id: 'file-pdf', teamspace_id: 'ts-a', name: 'a.pdf', kind: 'pdf', pages: 10 }]
  const collections = { files, ...options.collections }
  const emulator = await testEmulator({ ...options, collections, scenarioSource: source })
  return {
    ...emulator,
    scenarios: source,
    start: (name: string, body?: object) => emulator.control('POST', `/scenarios/${name}/start`, body),
    stop: () => emulator.control('POST', '/scenarios/stop'),
    /** The active scenario as in the response of GET /scenarios. */
    active: async () => (await emulator.control('GET', '/scenarios')).body.active,
    /** Advances the clock over the control interface, which waits for functions. */
    pass: async (by: string) => (await emulator.control('POST', '/clock/advance', { by })).body,
    /** Only the collections, as text: functions that fail must not change them. */
    records: () => JSON.stringify(emulator.sandbox.document().collections),
  }
}

/** A command that can be seen: it makes the organization org-9. */
export const putNinth: ScenarioCommand = {
  kind: 'put',
  collection: 'organizations',
  record: { id: 'org-9', name: 'Ninth' },
}

/** A function that returns the same commands on every call. */
export function asking(...commands: readonly ScenarioCommand[]) {
  return () => commands
}
