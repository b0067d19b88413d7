import type { ScenarioCommand } from '../../src/kernel/scenario/commands.ts'
import { MemoryScenarios, type TestScenario } from './memory-scenarios.ts'
import { type TestAnswer, type TestWorld, type TestWorldOptions, testWorld } from './world.ts'

/** A world with scenarios that stand in no file. */
export interface ScenarioWorld extends TestWorld {
  readonly scenarios: MemoryScenarios
  start(name: string, body?: object): Promise<TestAnswer>
  stop(): Promise<TestAnswer>
  /** What GET /scenarios says of the one that is active. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape; the assertions are the types.
  active(): Promise<any>
  /** Lets time pass by the control interface, which waits for functions. */
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  pass(by: string): Promise<any>
  /** The collections alone: what functions that fail must not change. */
  records(): string
}

export async function scenarioWorld(
  scenarios: Readonly<Record<string, TestScenario>>,
  options: TestWorldOptions = {},
): Promise<ScenarioWorld> {
  const source = new MemoryScenarios(scenarios)
  const files = [{ id: 'file-pdf', teamspace_id: 'ts-a', name: 'a.pdf', kind: 'pdf', pages: 10 }]
  const collections = { files, ...options.collections }
  const world = await testWorld({ ...options, collections, scenarioSource: source })
  return {
    ...world,
    scenarios: source,
    start: (name, body) => world.control('POST', `/scenarios/${name}/start`, body),
    stop: () => world.control('POST', '/scenarios/stop'),
    active: async () => (await world.control('GET', '/scenarios')).body.active,
    pass: async (by) => (await world.control('POST', '/clock/advance', { by })).body,
    records: () => JSON.stringify(world.sandbox.document().collections),
  }
}

/** A function that asks for the same whatever it sees. */
export function asking(...commands: readonly ScenarioCommand[]) {
  return () => commands
}
