import type { EmulatorClient, EmulatorOptions, SandboxStart, World } from '../../index.ts'

/** What each test has to itself. */
export interface WorkspaceFixtures {
  /** A world of the test's own, made for it and removed behind it. */
  readonly world: World
  /** How the world starts: fixtures, seed, clock, rate, settings, scenario. Default: as the emulator was started. */
  readonly worldOptions: SandboxStart
}

/** What tests share. */
export interface WorkspaceSharedFixtures {
  /** The emulator that the worlds are on. */
  readonly emulator: EmulatorClient
  /** How it is started. Default: a free port, everything in memory, a clock that stands still; else as `startEmulator` has it. */
  readonly emulatorOptions: EmulatorOptions
}
