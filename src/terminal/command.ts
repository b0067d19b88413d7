import type { Line } from './line.ts'
import { type Environment, type Options, type OptionValues, UsageError } from './options.ts'

/** Exit codes: success; the command failed; the command line was wrong. */
export const OK = 0
export const FAILED = 1
export const MISUSED = 2

/** A valid command that failed. The message ends with the fix. */
export class CommandFailed extends Error {
  override readonly name = 'CommandFailed'
}

/** The standard streams of a process: `out` for the result of a command, `err` for everything else. Both add a newline. */
export interface Streams {
  out(text: string): void
  err(text: string): void
  /** Whether `err` is a terminal that shows colours. */
  readonly colours: boolean
  /** The number of columns of the terminal that `out` writes to; absent if it is none. */
  readonly width?: number | undefined
}

/** The output of a command. Control characters in its texts are escaped. */
export interface Terminal extends Streams {
  lines(lines: readonly Line[]): void
}

/** The input of a command: its arguments, options and environment. */
export interface Invocation<O extends Options = Options> {
  readonly args: readonly string[]
  /** The arguments after `--`, which are among `args` too. */
  readonly afterDashes: readonly string[]
  readonly options: OptionValues<O>
  /** The options that a flag or a variable sets; the others have their defaults. */
  readonly given: ReadonlySet<string>
  /** The options that a flag sets. */
  readonly typed: ReadonlySet<string>
  readonly env: Environment
  readonly terminal: Terminal
}

/** A command: its name, arguments, options and action. */
export interface Command<O extends Options = Options> {
  /** `clock advance` is the command `advance` of `clock`. The first command of a group also runs without its second word. */
  readonly name: string
  readonly description: string
  /** In the notation of commander, `<required>`, `[optional]` or `[several...]`, with their meanings. */
  readonly args?: Readonly<Record<string, string>>
  readonly options: O
  /** The usage after the name, where commander cannot derive it from the arguments and options. */
  readonly usage?: string
  /** Resolves with the exit code. */
  readonly run: (invocation: Invocation<O>) => Promise<number>
}

/** Declares a command. Its action gets the values of these options only. */
export function command<O extends Options>(declaration: Command<O>): Command {
  return declaration as unknown as Command
}

/** The command that another command runs. Throws {@link UsageError} for arguments before `--`. */
export function commandAfterDashes(
  name: string,
  { args, afterDashes }: Pick<Invocation, 'args' | 'afterDashes'>,
): readonly string[] {
  if (args.length === afterDashes.length) return args
  throw new UsageError([
    `Put -- in front of the command: workspace-emulator ${name} [flags] -- ${args.join(' ')}`,
    `Run "workspace-emulator ${name} --help" for its arguments and flags.`,
  ])
}
