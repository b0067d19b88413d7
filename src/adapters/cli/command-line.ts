import { Command, CommanderError, Option } from 'commander'
import { didYouMean } from '../../core/did-you-mean.ts'
import { packageVersion } from '../package.ts'
import {
  CommandFailed,
  command,
  type Command as Declaration,
  FAILED,
  MISUSED,
  OK,
  type Terminal,
} from './command.ts'
import {
  type Environment,
  type Flags,
  flagOf,
  givenOptions,
  OPTION_NAMES,
  type OptionName,
  optionOf,
  resolveOptions,
  shownDefault,
  UsageError,
  usageOf,
} from './options.ts'
import { harmless } from './print.ts'

const NAME = 'workspace-emulator'

/** The command that runs when none is named. */
const DEFAULT_COMMAND = 'start'

const completionCommand = command({
  name: 'completion',
  description: 'Print a script that completes commands and flags in bash, zsh or fish',
  args: [{ name: '<shell>', description: 'bash, zsh or fish' }],
  options: ['json'],
  run: async (invocation) => (await import('./completion.ts')).completion(invocation, await allCommands()),
})

/** The commands by their first word, in the order of the help. Each command loads only its own code, so that `start` is fast. */
const GROUPS: Readonly<Record<string, () => Promise<readonly Declaration[]>>> = {
  [DEFAULT_COMMAND]: async () => (await import('./local-commands.ts')).startCommands,
  exec: async () => (await import('./local-commands.ts')).execCommands,
  wait: async () => (await import('./control-commands.ts')).waitCommands,
  status: async () => (await import('./control-commands.ts')).statusCommands,
  clock: async () => (await import('./clock-commands.ts')).clockCommands,
  reset: async () => (await import('./control-commands.ts')).resetCommands,
  requests: async () => (await import('./request-commands.ts')).requestCommands,
  events: async () => (await import('./event-commands.ts')).eventsCommands,
  event: async () => (await import('./event-commands.ts')).eventCommands,
  explain: async () => (await import('./explain-command.ts')).explainCommands,
  snapshot: async () => (await import('./snapshot-commands.ts')).snapshotCommands,
  sandbox: async () => (await import('./sandbox-commands.ts')).sandboxCommands,
  faults: async () => (await import('./fault-commands.ts')).faultCommands,
  limits: async () => (await import('./limit-commands.ts')).limitCommands,
  state: async () => (await import('./state-commands.ts')).stateCommands,
  batch: async () => (await import('./batch-commands.ts')).batchCommands,
  webhook: async () => (await import('./webhook-commands.ts')).webhookCommands,
  settings: async () => (await import('./settings-commands.ts')).settingsCommands,
  assumptions: async () => (await import('./settings-commands.ts')).assumptionCommands,
  stub: async () => (await import('./settings-commands.ts')).stubCommands,
  latency: async () => (await import('./latency-command.ts')).latencyCommands,
  scenario: async () => (await import('./scenario-commands.ts')).scenarioCommands,
  'agent-runs': async () => (await import('./service-commands.ts')).agentRunCommands,
  join: async () => (await import('./service-commands.ts')).joinCommands,
  oauth: async () => (await import('./service-commands.ts')).oauthCommands,
  connection: async () => (await import('./service-commands.ts')).connectionCommands,
  api: async () => (await import('./service-commands.ts')).apiCommands,
  validate: async () => (await import('./local-commands.ts')).validateCommands,
  doctor: async () => (await import('./local-commands.ts')).doctorCommands,
  open: async () => (await import('./process-commands.ts')).openCommands,
  stop: async () => (await import('./process-commands.ts')).stopCommands,
  completion: async () => [completionCommand],
  version: async () => (await import('./local-commands.ts')).versionCommands,
}

/** Every command, in the order of the help. */
export async function allCommands(): Promise<readonly Declaration[]> {
  return (await Promise.all(Object.values(GROUPS).map((load) => load()))).flat()
}

// The first word selects the commands. Without one the default command runs; the help lists all commands.
async function commandsFor(argv: readonly string[]): Promise<readonly Declaration[]> {
  const [first = '-'] = argv
  const isFlag = first.startsWith('-') && !argv.includes('-h') && !argv.includes('--help')
  const load = Object.hasOwn(GROUPS, first) ? GROUPS[first] : isFlag ? GROUPS[DEFAULT_COMMAND] : allCommands
  return (load ?? allCommands)()
}

/** The command line with the command first: `--url URL clock advance` means `clock advance --url URL`. */
async function commandFirst(argv: readonly string[]): Promise<readonly string[]> {
  const flags = leadingFlags(argv)
  const words = argv.slice(flags.length)
  if (flags.length === 0 || !Object.hasOwn(GROUPS, words[0] ?? '')) return argv
  const names = (await commandsFor(words)).map(({ name }) => name)
  const count = words.length > 1 && names.includes(`${words[0]} ${words[1]}`) ? 2 : 1
  return [...words.slice(0, count), ...flags, ...words.slice(count)]
}

/** The flags at the beginning of a command line, with their values. An unknown flag counts as a flag without a value. */
function leadingFlags(argv: readonly string[]): readonly string[] {
  const takesValue = (word: string) =>
    OPTION_NAMES.some((name) => {
      const { kind, short } = optionOf(name)
      return kind !== 'switch' && (word === flagOf(name) || (short !== undefined && word === short))
    })
  let count = 0
  while (argv[count]?.startsWith('-') === true && argv[count] !== '--')
    count += takesValue(argv[count] ?? '') ? 2 : 1
  return argv.slice(0, count)
}

const FOOTER = `
Every flag has an environment variable: --skip-on-poll has WORKSPACE_EMULATOR_SKIP_ON_POLL. The flag overrides it.`

/**
 * Runs a command line and resolves with the exit code: 0, 1 when the command failed, 2 when the command line was wrong.
 * @param given the arguments after the name of the program
 */
export async function run(given: readonly string[], env: Environment, raw: Terminal): Promise<number> {
  const argv = await commandFirst(given)
  // Results contain texts of requests and records, with any character. The logger escapes its own texts, since it adds colours.
  const terminal: Terminal = { ...raw, out: (text) => raw.out(harmless(text)) }
  let code = OK
  const dashes = argv.indexOf('--')
  const afterDashes = dashes === -1 ? [] : argv.slice(dashes + 1)
  const program = programOf(terminal, await commandsFor(argv), async (declaration, command) => {
    const flags = flagsOf(command, declaration)
    const options = resolveOptions(declaration.options, flags, env)
    const given = givenOptions(declaration.options, flags, env)
    const typed = new Set(flags.keys())
    const { args } = command
    code = await declaration.run({ args, afterDashes, options, given, typed, env, terminal })
  })
  try {
    await program.parseAsync(argv, { from: 'user' })
    return code
  } catch (error) {
    // Commander throws an error after a help text too.
    if (error instanceof CommanderError) return error.exitCode === 0 ? OK : MISUSED
    if (!(error instanceof UsageError || error instanceof CommandFailed)) throw error
    const exitCode = error instanceof UsageError ? MISUSED : FAILED
    terminal.err(asksForJson(argv, dashes) ? errorLine(error.message, exitCode) : harmless(error.message))
    return exitCode
  }
}

// Searches the words, since the options of a wrong command line were never parsed.
function asksForJson(argv: readonly string[], dashes: number): boolean {
  return argv.slice(0, dashes === -1 ? argv.length : dashes).includes('--json')
}

/** An error as one line of JSON, for programs that read the output of a command. */
function errorLine(message: string, exitCode: number): string {
  return JSON.stringify({ error: { message, exit_code: exitCode } })
}

type Act = (declaration: Declaration, command: Command) => Promise<void>

function programOf(terminal: Terminal, commands: readonly Declaration[], act: Act): Command {
  const program = new Command(NAME)
    .description('A local emulator of the Agent Workspace Service.')
    .usage('[command] [flags]')
    .helpCommand(false)
    .configureOutput({ writeOut: (text) => terminal.out(text.trimEnd()), writeErr: () => {} })
    .addHelpText(
      'after',
      `\nWithout a command, ${DEFAULT_COMMAND} runs. Its flags: ${NAME} ${DEFAULT_COMMAND} --help`,
    )
    .option('-v, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
  program.exitOverride((error) => misuse(error, program))
  program.on('option:version', () => {
    terminal.out(packageVersion())
    throw new CommanderError(OK, 'commander.version', '')
  })
  for (const declaration of commands) addCommand(program, declaration, act)
  addHelp(program)
  return program
}

function addCommand(program: Command, declaration: Declaration, act: Act): void {
  const words = declaration.name.split(' ')
  const parent = words.length === 1 ? program : program.commands.find((each) => each.name() === words[0])
  const name = words.at(-1) ?? ''
  const command = (parent ?? program)
    .command(name, { isDefault: declaration.name === DEFAULT_COMMAND })
    .description(declaration.description)
    .helpCommand(false)
    .helpOption('-h, --help', 'print this help')
    .addHelpText('after', FOOTER)
    .action(() => act(declaration, command))
  if (declaration.usage !== undefined) command.usage(declaration.usage)
  for (const { name, description } of declaration.args ?? []) command.argument(name, description)
  for (const option of declaration.options) command.addOption(commanderOption(option, declaration))
  command.exitOverride((error) => misuse(error, command))
}

// Replaces the help command of commander, which supports only commands of one word and ignores unknown ones.
function addHelp(program: Command): void {
  const help = program.command('help').description('print the help of a command').argument('[command...]')
  help.helpCommand(false).helpOption('-h, --help', 'print this help')
  help
    .exitOverride((error) => misuse(error, help))
    .action((words: readonly string[]) => {
      let found = program
      for (const word of words) {
        const next = found.commands.find((each) => each.name() === word)
        if (next === undefined) throw new UsageError(noCommand(found, word))
        found = next
      }
      found.outputHelp()
    })
}

function commanderOption(name: OptionName, { help = {} }: Declaration): Option {
  const { kind, ...option } = optionOf(name)
  const { description = option.description, shown = shownDefault(name) } = help[name] ?? {}
  if (kind === 'switch') return new Option(usageOf(name), description)
  const declared = new Option(usageOf(name), `${description} (default: ${shown})`)
  // Texts are only collected here; they are parsed together with those of the environment.
  return declared.argParser((text, before: readonly string[] | undefined) => [...(before ?? []), text])
}

function flagsOf(command: Command, { options }: Declaration): Flags {
  const flags = new Map<OptionName, readonly string[]>()
  for (const name of options) {
    const given = givenTo(command, name)
    if (given !== undefined) flags.set(name, given)
  }
  return flags
}

// `clock --json advance 1h` gives the flag to `clock`, which shares it with `advance`.
function givenTo(command: Command, name: OptionName): readonly string[] | undefined {
  const option = command.options.find(({ long }) => long === flagOf(name))
  const attribute = option?.attributeName() ?? ''
  if (command.getOptionValueSource(attribute) === 'cli') {
    const value: unknown = command.getOptionValue(attribute)
    return Array.isArray(value) ? value : ['true']
  }
  return command.parent ? givenTo(command.parent, name) : undefined
}

/** Rethrows an error of commander in our words. */
function misuse(error: CommanderError, command: Command): never {
  if (error.exitCode === 0) throw error
  const first = unexpected(error, command)
  if (first !== undefined) throw new UsageError(first)
  throw new UsageError([problemOf(error, command), takes(command)])
}

function problemOf(error: CommanderError, command: Command): string {
  const quoted = /'([^']*)'/.exec(error.message)?.[1] ?? ''
  switch (error.code) {
    case 'commander.unknownOption':
      return `There is no flag ${quoted}.${didYouMean(quoted, longFlags(command))}`
    case 'commander.optionMissingArgument':
      return `${quoted.split(' ').find((word) => word.startsWith('--'))} needs a value: ${quoted.replace(/^-\w, /, '')}.`
    case 'commander.missingArgument':
      return `${pathOf(command)} needs <${quoted}>: ${meaningOf(quoted, command)}.`
    default:
      return `${error.message.replace(/^error: /, '')}.`
  }
}

function meaningOf(argument: string, { registeredArguments }: Command): string {
  return registeredArguments.find((each) => each.name() === argument)?.description ?? ''
}

// Commander passes an unknown command as an argument to the default command, or to the parent command.
function unexpected({ code }: CommanderError, command: Command): string[] | undefined {
  if (code !== 'commander.excessArguments') return undefined
  const [first = ''] = command.args.slice(command.registeredArguments.length)
  const isDefault = pathOf(command) === `${NAME} ${DEFAULT_COMMAND}`
  if (isDefault && commandNames().includes(first)) {
    return [`Put the command first: ${NAME} ${first} [flags].`, takes(command)]
  }
  if (isDefault || command.commands.length > 0) {
    return noCommand(isDefault ? (command.parent ?? command) : command, first)
  }
  return [`${pathOf(command)} does not accept "${first}".`, takes(command)]
}

function noCommand(above: Command, word: string): string[] {
  const own = [...pathOf(above).split(' ').slice(1), word].join(' ')
  const known = above.commands.map((each) => pathOf(each).slice(NAME.length + 1))
  return [
    `There is no command "${own}".${didYouMean(own, known)}`,
    `Run "${pathOf(above)} --help" for the commands.`,
  ]
}

function takes(command: Command): string {
  return `Run "${pathOf(command)} --help" for its arguments and flags.`
}

function longFlags(command: Command): string[] {
  return ['--help', ...command.options.flatMap(({ long }) => long ?? [])]
}

function commandNames(): string[] {
  return Object.keys(GROUPS)
}

function pathOf(command: Command): string {
  return command.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name()
}
