import type { TestEmulatorOptions } from './emulator.ts'
import type { TestScenario } from './memory-scenarios.ts'
import { type ScenarioEmulator, scenarioEmulator } from './scenario-emulator.ts'

/** An emulator in which this scenario has started under the name s. */
export async function started(s: TestScenario, options: TestEmulatorOptions = {}): Promise<ScenarioEmulator> {
  const emulator = await scenarioEmulator({ s }, options)
  await emulator.start('s')
  return emulator
}

export const faultsOf = async (emulator: ScenarioEmulator) =>
  (await emulator.control('GET', '/faults')).body.data

/** The settings that differ from their defaults. */
export const overridesOf = async (emulator: ScenarioEmulator) =>
  (await emulator.control('GET', '/settings')).body.overrides

/** The instant and the reference of each future event. */
export async function horizonOf(emulator: ScenarioEmulator): Promise<(readonly [at: string, ref: string])[]> {
  const { data } = (await emulator.control('GET', '/clock/horizon')).body
  return data.map(({ at, ref }: { at: string; ref: string }) => [at, ref])
}
