import type { Ask, OwnCalls } from '../control/client/ask.ts'
import {
  type CLIENT_OPTIONS,
  type Command,
  command,
  type Invocation,
  SANDBOX_OPTIONS,
  type SandboxInvocation,
} from './command.ts'
import { controlOf } from './control-client.ts'
import { type JsonSource, readSource, refusedFile } from './json-files.ts'
import { nameArgument, type OptionName, type OptionValues } from './options.ts'
import { linesOf, show } from './print.ts'

type ClientOption = (typeof SANDBOX_OPTIONS)[number]
type Output<K extends string> = K extends keyof OwnCalls ? OwnCalls[K]['output'] : object

/** The arguments of a command by their names: `id` for `<id>`; undefined for one that is left out. */
export type GivenArguments = Readonly<Record<string, string | undefined>>

/** A command that makes one call of the control interface and prints its output. */
export interface CallCommand<K extends string, N extends OptionName>
  extends Omit<Command<N | ClientOption>, 'run' | 'options'> {
  /** Method and path template: an argument named `id` is the value of `{id}`. */
  readonly route: K
  /** The options in addition to those of every command about a sandbox. */
  readonly options?: readonly N[]
  readonly query?: (
    args: GivenArguments,
    options: OptionValues<N>,
  ) => Readonly<Record<string, string | undefined>>
  /** The body, or the name of the argument that contains it: JSON, or the path of a JSON file. */
  readonly body?: string | ((args: GivenArguments, options: OptionValues<N>) => object)
  /** The lines that are printed without `--json`. Default: a table for a list, one line for each field of an object. */
  readonly lines?: (output: Output<K>, args: GivenArguments, invocation: Invocation<ClientOption>) => string[]
  /** The columns of the table for a list. Default: the fields that are neither lists nor objects. */
  readonly columns?: readonly string[]
}

/** Declares a command that makes one call of the control interface. */
export function callCommand<const K extends string, N extends OptionName = never>(
  declared: CallCommand<K, N>,
): Command {
  const { route, query, body, lines, columns, options = [], ...rest } = declared
  return command<N | ClientOption>({
    ...rest,
    options: [...SANDBOX_OPTIONS, ...options],
    run: async (invocation) => {
      const args = argumentsOf(declared, invocation.args)
      const source = typeof body === 'string' ? await readSource(body, args[body] ?? '') : undefined
      const given = {
        params: args,
        query: query?.(args, invocation.options),
        body: typeof body === 'function' ? body(args, invocation.options) : source?.value,
      }
      const output = await callOf(invocation)(route, given).catch((error: unknown) => {
        throw inFile(error, source)
      })
      // A response without a body is printed as an empty object with --json.
      return show(
        invocation,
        output ?? {},
        lines?.(output as Output<K>, args, invocation) ?? linesOf(output, columns),
      )
    },
  })
}

type AnyCall = (route: string, given: object) => Promise<object | undefined>

// The routes of resources have no types in this adapter; a test compares the routes of all commands with those that exist.
function callOf({ options }: Invocation<ClientOption>): AnyCall {
  return controlOf(options) as Ask as unknown as AnyCall
}

function argumentsOf(
  { args = [] }: Pick<Command, 'args'>,
  values: readonly string[],
): Record<string, string> {
  const named = args.map(
    ({ name }, n) => [name.replaceAll(/[<>[\].]/g, '').replaceAll('-', '_'), values[n]] as const,
  )
  return Object.fromEntries(named.filter((each): each is [string, string] => each[1] !== undefined))
}

function inFile(error: unknown, source: JsonSource | undefined): unknown {
  return source?.file === undefined ? error : refusedFile('The document is refused:', source.file, error)
}

/** The argument of a command about a sandbox or a snapshot. */
export const NAME_ARGUMENT = { name: '<name>', description: 'lower-case letters, digits and hyphens' }

/** A command that makes one call with a name as its argument, and prints one line; with `--json` it prints the output. */
export function nameCommand(
  name: string,
  description: string,
  options: typeof CLIENT_OPTIONS | typeof SANDBOX_OPTIONS,
  call: (ask: Ask, name: string) => Promise<readonly [output: object, line: string]>,
): Command {
  const run = async (invocation: SandboxInvocation): Promise<number> => {
    const [output, line] = await call(controlOf(invocation.options), nameArgument(invocation.args))
    return show(invocation, output, [line])
  }
  return command({ name, description, args: [NAME_ARGUMENT], options, run })
}
