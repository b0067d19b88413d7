import type { CallControl, OwnCalls } from '../control-client/ask.ts'
import { type Command, command, type Invocation, OK } from './command.ts'
import { type AnyCall, controlOf } from './control-client.ts'
import { locatingIssues, readSource } from './json-files.ts'
import type { Line } from './line.ts'
import { type Options, type OptionValues, SANDBOX_OPTIONS } from './options.ts'
import { linesOf, prettyLines, show } from './print.ts'
import { writeJson } from './text-file.ts'

type Own = typeof SANDBOX_OPTIONS
type Output<K extends string> = K extends keyof OwnCalls ? OwnCalls[K]['output'] : object

/** A command about one sandbox. */
interface SandboxCommand<O extends Options> extends Omit<Command, 'name' | 'options' | 'run'> {
  /** The options in addition to those of every command about a sandbox. */
  readonly options?: O
  /** @param ask calls the control interface about the sandbox that the options name */
  readonly run: (ask: CallControl, invocation: Invocation<Own & O>) => Promise<number>
}

/** Declares a command about one sandbox. {@link call} is shorter for one that makes a single call. */
// biome-ignore lint/complexity/noBannedTypes: no option of its own.
export function sandboxCommand<O extends Options = {}>(
  name: string,
  { options, run, ...rest }: SandboxCommand<O>,
): Command {
  return command<Own & O>({
    ...rest,
    name,
    options: { ...SANDBOX_OPTIONS, ...options } as Own & O,
    run: (invocation) => run(controlOf(invocation.options), invocation),
  })
}

/** The arguments of a command by their names: `id` for `<id>`; undefined for one that is left out. */
type GivenArguments = Readonly<Record<string, string | undefined>>

/** What a command makes of the output of its call. */
type From<K extends string, O extends Options, R> = (
  output: Output<K>,
  args: GivenArguments,
  options: OptionValues<Own & O>,
) => R

/** A command that makes one call of the control interface and prints its output. */
interface CallCommand<K extends string, O extends Options>
  extends Pick<SandboxCommand<O>, 'description' | 'args' | 'options'> {
  readonly query?: (args: GivenArguments, options: OptionValues<O>) => GivenArguments
  /** The body, or the name of the argument that contains it: JSON, or the path of a JSON file. */
  readonly body?: string | ((args: GivenArguments, options: OptionValues<O>) => object | Promise<object>)
  /** The file that the output is written into, absent: stdout, and the name of the output in messages. */
  readonly exports?: From<K, O, readonly [file: string | undefined, what: string]>
  /** The lines that are printed without `--json`. Default: a table for a list, one line for each field of an object. */
  readonly lines?: From<K, O, readonly Line[]>
  /** The columns of the table for a list. Default: the fields that are neither lists nor objects. */
  readonly columns?: readonly string[]
  /** The exit code. Default: 0. */
  readonly code?: (output: Output<K>) => number
}

/**
 * Declares a command that makes one call of the control interface.
 * @param route method and path template: an argument named `id` is the value of `{id}`. With two of them, the second one is
 *   called when the optional argument is left out.
 */
// biome-ignore lint/complexity/noBannedTypes: no option of its own.
export function call<const K extends string, O extends Options = {}>(
  name: string,
  route: K | readonly [one: K, all: K],
  declared: CallCommand<K, O>,
): Command {
  const { query, body, exports, lines, columns, code, ...rest } = declared
  const [one, all = one] = [route].flat() as [K, K?]
  const names = Object.keys(rest.args ?? {}).map((name) =>
    name.replaceAll(/[<>[\].]/g, '').replaceAll('-', '_'),
  )
  return sandboxCommand<O>(name, {
    ...rest,
    run: async (ask, invocation) => {
      const { options } = invocation
      const named = invocation.args.map((value, n) => [names[n] ?? '', value] as const)
      const args = Object.fromEntries(named)
      const source = typeof body === 'string' ? await readSource(body, args[body] ?? '') : undefined
      const chosen = invocation.args.length > 0 ? one : all
      const given = {
        params: Object.fromEntries(named.filter(([name]) => chosen.includes(`{${name}}`))),
        query: query?.(args, options),
        body: typeof body === 'function' ? await body(args, options) : source?.value,
      }
      // The routes of resources have no types here; a test compares the routes of all commands with those that exist.
      const called = (ask as AnyCall)(chosen, given)
      const output = await locatingIssues(called, source?.file, 'The document is refused:')
      const typed = output as Output<K>
      // A response without a body is printed as an empty object with --json.
      if (exports === undefined) {
        show(invocation, output ?? {}, lines?.(typed, args, options) ?? linesOf(output, columns))
        return code?.(typed) ?? OK
      }
      const [file, what] = exports(typed, args, options)
      if (file === undefined) return show(invocation, output ?? {}, prettyLines(output ?? {}))
      writeJson(file, output, 'private')
      return show(invocation, { exported: what, file }, [`${what} written to ${file}.`])
    },
  })
}

/** The value of a switch in a query. */
export function isOn(option: boolean): 'true' | undefined {
  return option ? 'true' : undefined
}
