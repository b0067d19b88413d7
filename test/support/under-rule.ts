import type { FaultRule } from '../../src/core/faults/rule.ts'
import { type TestEmulator, testEmulator } from './emulator.ts'
import { armRule } from './faults.ts'

/** A sandbox, by default a plain one, with a rule that {@link armRule} has armed. */
export async function underRule(
  rule: Partial<FaultRule>,
  starting: Promise<TestEmulator> = testEmulator(),
): Promise<TestEmulator> {
  const emulator = await starting
  armRule(emulator.sandbox, rule)
  return emulator
}
