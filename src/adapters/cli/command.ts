import type { Environment, OptionName, OptionValues } from './options.ts'

/** Exit codes: success; the command failed; the command line was wrong. */
export const OK = 0
export const FAILED = 1
export const MISUSED = 2

/** A valid command that failed. The message ends with the fix. */
export class CommandFailed extends Error {
  override readonly name = 'CommandFailed'
}

/** The output of a command: `out` for its result, `err` for everything else. Both add a newline. */
export interface Terminal {
  out(text: string): void
  err(text: string): void
  /** Whether `err` is a terminal that shows colours. */
  readonly colours: boolean
}

/** The input of a command: its arguments, options and environment. */
export interface Invocation<N extends OptionName = OptionName> {
  readonly args: readonly string[]
  /** The arguments after `--`, which are among `args` too. */
  readonly afterDashes: readonly string[]
  readonly options: OptionValues<N>
  /** The options that a flag or a variable sets; the others have their defaults. */
  readonly given: ReadonlySet<OptionName>
  /** The options that a flag sets. */
  readonly typed: ReadonlySet<OptionName>
  readonly env: Environment
  readonly terminal: Terminal
}

/** A command: its name, arguments, options and action. */
export interface Command<N extends OptionName = OptionName> {
  /** `clock advance` is the command `advance` of `clock`. */
  readonly name: string
  readonly description: string
  /** In the notation of commander: `<required>`, `[optional]`, `[several...]`, with their meanings. */
  readonly args?: readonly { readonly name: string; readonly description: string }[]
  readonly options: readonly N[]
  /** The usage after the name, where commander cannot derive it from the arguments and options. */
  readonly usage?: string
  /** The help of an option, where it differs from the table of all options. */
  readonly help?: { readonly [M in N]?: { readonly description?: string; readonly shown?: string } }
  /** Resolves with the exit code. */
  readonly run: (invocation: Invocation<N>) => Promise<number>
}

/** Declares a command. Its action gets the values of these options only. */
export function command<N extends OptionName>(declaration: Command<N>): Command {
  return declaration as Command<OptionName>
}

/** A command that lists, and the same command with the word `list` added to its name. */
export function listCommands<N extends OptionName>(
  name: string,
  description: string,
  again: string,
  options: readonly N[],
  run: Command<N>['run'],
): Command[] {
  return [
    command({ name, description, options, run }),
    command({ name: `${name} list`, description: again, options, run }),
  ]
}

/** The options of every command that talks to a running emulator. */
export const CLIENT_OPTIONS = ['url', 'controlToken', 'json'] as const

/** The options of every command about one of its sandboxes. */
export const SANDBOX_OPTIONS = [...CLIENT_OPTIONS, 'sandbox'] as const

/** The invocation of a command about one sandbox. */
export type SandboxInvocation = Invocation<(typeof SANDBOX_OPTIONS)[number]>
