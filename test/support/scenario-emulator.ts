import type { ScenarioCommand } from '../../src/core/scenarios/source.ts'
import { type TestEmulator, type TestEmulatorOptions, type TestResponse, testEmulator } from './emulator.ts'
import { MemoryScenarios, type TestScenario } from './memory-scenarios.ts'

/** A sandbox with scenarios in memory instead of files. */
export interface ScenarioEmulator extends TestEmulator {
  readonly scenarios: MemoryScenarios
  start(name: string, body?: object): Promise<TestResponse>
  stop(): Promise<TestResponse>
  /** The active scenario as in the response of GET /scenarios. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape; the assertions are the types.
  active(): Promise<any>
  /** Advances the clock over the control interface, which waits for functions. */
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  pass(by: string): Promise<any>
  /** Only the collections, as text: functions that fail must not change them. */
  records(): string
}

export async function scenarioEmulator(
  scenarios: Readonly<Record<string, TestScenario>>,
  options: TestEmulatorOptions = {},
): Promise<ScenarioEmulator> {
  const source = new MemoryScenarios(scenarios)
  const files = [{ id: 'file-pdf', teamspace_id: 'ts-a', name: 'a.pdf', kind: 'pdf', pages: 10 }]
  const collections = { files, ...options.collections }
  const emulator = await testEmulator({ ...options, collections, scenarioSource: source })
  return {
    ...emulator,
    scenarios: source,
    start: (name, body) => emulator.control('POST', `/scenarios/${name}/start`, body),
    stop: () => emulator.control('POST', '/scenarios/stop'),
    active: async () => (await emulator.control('GET', '/scenarios')).body.active,
    pass: async (by) => (await emulator.control('POST', '/clock/advance', { by })).body,
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
