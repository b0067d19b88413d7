import type { EmulatorClient, EmulatorOptions, SandboxClient, SandboxStart } from '../../index.ts'

/** What each test has to itself. */
export interface WorkspaceFixtures {
  /** A sandbox of the test's own, made for it and removed behind it. */
  readonly sandbox: SandboxClient
  /** How the sandbox starts: fixtures, seed, clock, rate, settings, scenario. Default: as the emulator was started. */
  readonly sandboxOptions: SandboxStart
}

/** What tests share. */
export interface WorkspaceSharedFixtures {
  /** The emulator that the sandboxes are on. */
  readonly emulator: EmulatorClient
  /** How it is started. Default: a free port, everything in memory, a clock that stands still; else as `startEmulator` has it. */
  readonly emulatorOptions: EmulatorOptions
}
