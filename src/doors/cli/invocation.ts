import type { Environment, OptionName, OptionValues } from './options.ts'

/** Where a command writes. `out` is for what was asked for, `err` for everything else. Both add the line's end. */
export interface Terminal {
  out(text: string): void
  err(text: string): void
  /** Whether people read `err`, so that colours are of use. */
  readonly colours: boolean
}

/** What a command is given: its arguments, its options, and where to write. */
export interface Invocation<N extends OptionName = OptionName> {
  readonly args: readonly string[]
  /** What stood behind `--`, which is among the arguments too. */
  readonly behindDashes: readonly string[]
  readonly options: OptionValues<N>
  /** The options that a flag or a variable gives; the others have their defaults. */
  readonly given: ReadonlySet<OptionName>
  /** Those of them that stand on the command line. */
  readonly typed: ReadonlySet<OptionName>
  readonly env: Environment
  readonly terminal: Terminal
}

/** Does the work of a command and resolves with its exit code. */
export type Action<N extends OptionName> = (invocation: Invocation<N>) => Promise<number>

export const START_OPTIONS = [
  'port',
  'host',
  'data',
  'ephemeral',
  'fixtures',
  'scenarios',
  'scenario',
  'settings',
  'seed',
  'clock',
  'rate',
  'skipOnPoll',
  'auth',
  'limits',
  'strict',
  'revealFaults',
  'durability',
  'controlToken',
  'allowHost',
  'allowWebhook',
  'corsOrigin',
  'logLevel',
  'logFormat',
  'quiet',
  'noColor',
  'json',
] as const satisfies readonly OptionName[]

/** What every command has that talks to a running emulator. */
export const CLIENT_OPTIONS = ['url', 'controlToken', 'json'] as const satisfies readonly OptionName[]

/** What every command has that is about one of its sandboxes. */
export const SANDBOX_OPTIONS = [...CLIENT_OPTIONS, 'sandbox'] as const satisfies readonly OptionName[]

export const WAIT_OPTIONS = [...CLIENT_OPTIONS, 'timeout'] as const satisfies readonly OptionName[]

export const ADVANCE_OPTIONS = [
  ...SANDBOX_OPTIONS,
  'to',
  'steps',
  'untilBatch',
  'status',
  'items',
] as const satisfies readonly OptionName[]

export const REQUESTS_OPTIONS = [
  ...SANDBOX_OPTIONS,
  'operation',
  'method',
  'path',
  'status',
  'idempotencyKey',
  'since',
  'limit',
] as const satisfies readonly OptionName[]

export const FAULT_OPTIONS = [
  ...SANDBOX_OPTIONS,
  'id',
  'operation',
  'method',
  'path',
  'nth',
  'first',
  'after',
  'every',
  'probability',
  'by',
  'times',
  'ttl',
] as const satisfies readonly OptionName[]

export const SCENARIO_START_OPTIONS = [...SANDBOX_OPTIONS, 'reset'] as const satisfies readonly OptionName[]

export const CREATE_OPTIONS = [
  ...SANDBOX_OPTIONS,
  'fixtures',
  'seed',
  'clock',
  'settings',
  'persist',
  'fromSnapshot',
] as const satisfies readonly OptionName[]

export const VALIDATE_OPTIONS = [
  'fixtures',
  'settings',
  'scenarios',
  'json',
] as const satisfies readonly OptionName[]

export const DOCTOR_OPTIONS = ['port', 'host', 'data', 'json'] as const satisfies readonly OptionName[]

/** What a command is given that is about a running emulator. */
export type ClientInvocation = Invocation<(typeof CLIENT_OPTIONS)[number]>

/** What a command is given that is about one sandbox of it. */
export type SandboxInvocation = Invocation<(typeof SANDBOX_OPTIONS)[number]>
