import { Command, CommanderError, Option } from 'commander'
import { packageVersion } from '../adapters/package.ts'
import { harmless } from '../core/quoted.ts'
import {
  CommandFailed,
  type Command as Declaration,
  FAILED,
  MISUSED,
  OK,
  type Streams,
  type Terminal,
} from '../terminal/command.ts'
import { styled } from '../terminal/line.ts'
import {
  type Environment,
  type Flags,
  flagOf,
  givenOptions,
  resolveOptions,
  SHARED,
  START_OPTIONS,
  shownDefault,
  UsageError,
  unknownVariables,
  usageOf,
  variableOf,
} from '../terminal/options.ts'
import { rendered } from '../terminal/print.ts'
import { EXEC_OPTIONS } from './local-options.ts'

const NAME = 'workspace-emulator'

/** The command that runs when none is named. */
const DEFAULT_COMMAND = 'start'

/** The modules of the commands by their first words, in the order of the help. Each is loaded when it is needed: `start` is fast. */
const MODULES: Readonly<Record<string, () => Promise<readonly Declaration[]>>> = {
  'start exec certify hunt replay init mcp validate import doctor openapi schema drift': async () =>
    (await import('./local-commands.ts')).localCommands,
  'wait status reset open env stop': async () => (await import('./control-commands.ts')).controlCommands,
  'clock events': async () => (await import('./clock-commands.ts')).clockCommands,
  requests: async () => (await import('./request-commands.ts')).requestCommands,
  conduct: async () => (await import('../terminal/conduct-commands.ts')).conductCommands,
  coverage: async () => (await import('./coverage-commands.ts')).coverageCommands,
  explain: async () => (await import('../terminal/explain-command.ts')).explainCommands,
  'snapshot sandbox': async () => (await import('./sandbox-commands.ts')).sandboxCommands,
  gates: async () => (await import('./gate-commands.ts')).gateCommands,
  'faults latency': async () => (await import('./fault-commands.ts')).faultCommands,
  limits: async () => (await import('./limit-commands.ts')).limitCommands,
  scenario: async () => (await import('./scenario-commands.ts')).scenarioCommands,
  endpoints: async () => (await import('./endpoint-commands.ts')).endpointCommands,
  'state record': async () => (await import('./state-commands.ts')).stateCommands,
  batch: async () => (await import('./batch-commands.ts')).batchCommands,
  webhook: async () => (await import('./webhook-commands.ts')).webhookCommands,
  'settings assumptions': async () => (await import('./settings-commands.ts')).settingsCommands,
  call: async () => (await import('./call.ts')).callCommands,
  completion: async () => (await import('./completion.ts')).completionCommands(allCommands),
}

/** Every command, in the order of the help. */
export async function allCommands(): Promise<readonly Declaration[]> {
  return (await Promise.all(Object.values(MODULES).map((load) => load()))).flat()
}

/** The commands that begin with a word; all commands if none does, for the help. */
async function commandsFor(word = ''): Promise<readonly Declaration[]> {
  const load = MODULES[moduleOf(word) ?? '']
  if (load === undefined) return allCommands()
  return (await load()).filter(({ name }) => name.split(' ')[0] === word)
}

/** The key of the module with a command. */
const moduleOf = (word: string) => Object.keys(MODULES).find((words) => words.split(' ').includes(word))

/** The arguments with the second word of the first command of their group, if they leave it out. */
function withSecondWord(argv: readonly string[], [command]: readonly Declaration[]): readonly string[] {
  const [first, ...others] = argv
  const [group = '', second] = command?.name.split(' ') ?? []
  const isLeftOut = group === first && second !== undefined && isFlag(others[0])
  return isLeftOut ? [group, second, ...others] : argv
}

function isFlag(word: string | undefined): boolean {
  return word === undefined || word.startsWith('-')
}

const HELP = ['-h', '--help', '-v', '--version']

// Most commands have `--url`. The example is a flag that the command itself has.
function footerOf({ options }: Declaration, width: number): string {
  const all = Object.entries(options)
  const example = all.find(([name]) => name === 'url') ?? all[0]
  if (example === undefined) return ''
  const names = `${flagOf(...example)} has ${variableOf(...example)}`
  const text = `Every flag has an environment variable: ${names}. The flag overrides it.`
  return `\n${rendered(text, { colours: false, width })}`
}

/**
 * Runs a command line and resolves with the exit code: 0, 1 when the command failed, 2 when the command line was wrong.
 * @param given the arguments after the name of the program
 */
export async function run(given: readonly string[], env: Environment, streams: Streams): Promise<number> {
  const asked = given[0] === 'help' ? [...given.slice(1), '--help'] : given
  const isHelp = asked.some((word) => HELP.includes(word))
  const words = isFlag(asked[0]) && !isHelp ? [DEFAULT_COMMAND, ...asked] : asked
  const commands = await commandsFor(words[0])
  const argv = isHelp ? words : withSecondWord(words, commands)
  const dashes = argv.includes('--') ? argv.indexOf('--') : argv.length
  let code = OK
  const program = programOf(streams, env, commands, async (declaration, command) => {
    const flags = flagsOf(command, declaration)
    const { noColor } = resolveOptions({ noColor: START_OPTIONS.noColor }, flags, env)
    // The variables of containers, and of programs that `exec` runs, are known without the other commands.
    const usual = { ...EXEC_OPTIONS, ...SHARED, ...declaration.options }
    const unknown = await unknownVariables(env, usual, async () =>
      (await allCommands()).map(({ options }) => options),
    )
    code = await declaration.run({
      args: command.args,
      afterDashes: argv.slice(dashes + 1),
      options: resolveOptions(declaration.options, flags, env, unknown),
      given: givenOptions(declaration.options, flags, env),
      typed: new Set(flags.keys()),
      env,
      terminal: terminalOf(streams, noColor),
    })
  })
  try {
    await program.parseAsync(argv, { from: 'user' })
    return code
  } catch (error) {
    // Commander throws an error after a help text too.
    if (error instanceof CommanderError) return error.exitCode === 0 ? OK : MISUSED
    if (!(error instanceof UsageError || error instanceof CommandFailed)) throw error
    const exit_code = error instanceof UsageError ? MISUSED : FAILED
    const { message } = error
    // The options of a wrong command line were never parsed.
    const isJson = argv.slice(0, dashes).includes('--json')
    streams.err(isJson ? JSON.stringify({ error: { message, exit_code } }) : harmless(message))
    return exit_code
  }
}

// Results contain texts of requests and records, with any character. The logger escapes its own texts, since it adds colours.
function terminalOf(streams: Streams, isPlain: boolean): Terminal {
  const screen = { width: streams.width, colours: streams.width !== undefined && !isPlain }
  return {
    ...streams,
    out: (text) => streams.out(harmless(text)),
    lines: (lines) => streams.out(lines.map((line) => rendered(line, screen)).join('\n')),
  }
}

type Act = (declaration: Declaration, command: Command) => Promise<void>

function programOf(streams: Streams, env: Environment, commands: readonly Declaration[], act: Act): Command {
  const { width = 80 } = streams
  const program = new Command(NAME)
    .description('A local emulator of the Agent Workspace Service.')
    .usage('[command] [flags]')
    .configureOutput({
      writeOut: (text) => streams.out(text.trimEnd()),
      writeErr: () => {},
      getOutHelpWidth: () => width,
      getOutHasColors: () => streams.width !== undefined && (env.NO_COLOR ?? '') === '',
    })
    .configureHelp({
      minWidthToWrap: 20,
      subcommandTerm: (each) => each.name(),
      styleTitle: (title) => rendered(styled('bold', title), { colours: true }),
    })
    .addHelpText(
      'after',
      `\nWithout a command, ${DEFAULT_COMMAND} runs. Its flags:\n  ${NAME} ${DEFAULT_COMMAND} --help`,
    )
    .version(packageVersion(), '-v, --version', 'print the version')
  withHelp(program)
  for (const declaration of commands) addCommand(program, declaration, width, act)
  return program
}

function addCommand(program: Command, declaration: Declaration, width: number, act: Act): void {
  const { name, description, usage, args = {}, options } = declaration
  const [first = '', second] = name.split(' ')
  const group = program.commands.find((each) => each.name() === first)
  const isFirst = second !== undefined && group === undefined
  const parent = isFirst ? withHelp(program.command(first).description(description)) : (group ?? program)
  const command = withHelp((second === undefined ? program : parent).command(second ?? first))
    .description(description)
    .addHelpText('after', () => footerOf(declaration, width))
    .action(() => act(declaration, command))
  if (usage !== undefined) command.usage(usage)
  for (const [argument, meaning] of Object.entries(args)) command.argument(argument, meaning)
  for (const each of Object.entries(options)) command.addOption(commanderOption(...each))
}

function withHelp(command: Command): Command {
  return command
    .helpCommand(false)
    .helpOption('-h, --help', 'print this help')
    .exitOverride((error) => misuse(error, command))
}

function commanderOption(name: string, option: Declaration['options'][string]): Option {
  const usage = usageOf(name, option)
  if (option.kind === 'switch') return new Option(usage, option.description)
  const declared = new Option(usage, `${option.description} (default: ${shownDefault(option)})`)
  // Texts are only collected here; they are parsed together with those of the environment.
  return declared.argParser((text, before: readonly string[] | undefined) => [...(before ?? []), text])
}

function flagsOf(command: Command, { options }: Declaration): Flags {
  return new Map(
    Object.entries(options).flatMap(([name, option]) => {
      const given = givenTo(command, flagOf(name, option))
      return given === undefined ? [] : [[name, given]]
    }),
  )
}

// `clock --json advance 1h` gives the flag to `clock`, which shares it with `advance`.
function givenTo(command: Command, flag: string): readonly string[] | undefined {
  const option = command.options.find(({ long }) => long === flag)
  const attribute = option?.attributeName() ?? ''
  if (command.getOptionValueSource(attribute) !== 'cli')
    return command.parent ? givenTo(command.parent, flag) : undefined
  const value: unknown = command.getOptionValue(attribute)
  return Array.isArray(value) ? value : ['true']
}

/** Adds the way out to an error of commander. */
function misuse(error: CommanderError, command: Command): never {
  if (error.exitCode === 0) throw error
  const help = `Run "${pathOf(command)} --help" for its ${command.commands.length > 0 ? 'commands' : 'arguments'} and flags.`
  const late = command.name() === DEFAULT_COMMAND ? command.args.find(moduleOf) : undefined
  const order = late === undefined ? [] : [`A command comes before its flags: ${NAME} ${late} [flags]`]
  const missing = command.registeredArguments[command.args.length]
  const meaning = error.code === 'commander.missingArgument' && missing ? `: ${missing.description}` : ''
  throw new UsageError([`${error.message.replace(/^error: /, '')}${meaning}`, help, ...order])
}

function pathOf(command: Command): string {
  return command.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name()
}
