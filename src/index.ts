export { FixturesError } from './doors/fixtures.ts'
export {
  type BatchHandle,
  defineScenario,
  type HookContext,
  type HookFunction,
  type Scenario,
  type StepContext,
  type StepFunction,
} from './doors/scenarios/define-scenario.ts'
export { type Emulator, type EmulatorOptions, startEmulator } from './emulator.ts'
