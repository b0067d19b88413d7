import { Command, CommanderError, Option } from 'commander'
import { didYouMean } from '../../kernel/assumptions.ts'
import { packageVersion } from '../version.ts'
import type { CommandDeclaration } from './command.ts'
import { commands, DEFAULT_COMMAND } from './commands.ts'
import type { Terminal } from './invocation.ts'
import {
  type Environment,
  type Flags,
  flagOf,
  givenOptions,
  type OptionName,
  optionOf,
  resolveOptions,
  shownDefault,
} from './options.ts'
import { harmless } from './print.ts'
import { CommandFailed, FAILED, MISUSED, OK, UsageError } from './usage.ts'

const NAME = 'workspace-emulator'

const FOOTER = `
Every flag is an environment variable too: --skip-on-poll is WORKSPACE_EMULATOR_SKIP_ON_POLL. A flag wins.`

/**
 * Obeys a command line and resolves with the exit code: 0, 1 when the command failed, 2 when it was misused.
 * @param argv what follows the name of the program
 */
export async function run(argv: readonly string[], env: Environment, raw: Terminal): Promise<number> {
  // Data of others comes out here. What is logged has colours of its own; its texts are made harmless where they are set.
  const terminal: Terminal = { ...raw, out: (text) => raw.out(harmless(text)) }
  let code = OK
  const dashes = argv.indexOf('--')
  const behindDashes = dashes === -1 ? [] : argv.slice(dashes + 1)
  const program = programOf(terminal, async (declaration, command) => {
    const flags = flagsOf(command, declaration)
    const options = resolveOptions(declaration.options, flags, env)
    const given = givenOptions(declaration.options, flags, env)
    const action = await declaration.load()
    // Options that the action does not declare are not in its type either.
    const typed = new Set(flags.keys())
    const { args } = command
    code = await action({ args, behindDashes, options: options as never, given, typed, env, terminal })
  })
  try {
    await program.parseAsync(argv, { from: 'user' })
    return code
  } catch (error) {
    return explained(error, terminal)
  }
}

function explained(error: unknown, terminal: Terminal): number {
  // What is left of commander's errors is how it ends after a help text.
  if (error instanceof CommanderError) return error.exitCode === 0 ? OK : MISUSED
  if (!(error instanceof UsageError || error instanceof CommandFailed)) throw error
  terminal.err(harmless(error.message))
  return error instanceof UsageError ? MISUSED : FAILED
}

type Act = (declaration: CommandDeclaration, command: Command) => Promise<void>

function programOf(terminal: Terminal, act: Act): Command {
  const program = new Command(NAME)
    .description('A local emulator of the Agent Workspace Service.')
    .usage('[command] [flags]')
    .helpCommand(false)
    .configureOutput({ writeOut: (text) => terminal.out(text.trimEnd()), writeErr: () => {} })
    .addHelpText(
      'after',
      `\nWithout a command, ${DEFAULT_COMMAND} runs. Its flags: ${NAME} ${DEFAULT_COMMAND} --help`,
    )
    .option('-V, --version', 'print the version')
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

function addCommand(program: Command, declaration: CommandDeclaration, act: Act): void {
  const words = declaration.name.split(' ')
  const parent = words.length === 1 ? program : program.commands.find((each) => each.name() === words[0])
  const name = words.at(-1) ?? ''
  const command = (parent ?? program)
    .command(name, { isDefault: declaration.name === DEFAULT_COMMAND })
    .description(declaration.says)
    .summary(declaration.says)
    .helpCommand(false)
    .helpOption('-h, --help', 'print this help')
    .addHelpText('after', FOOTER)
    .action(() => act(declaration, command))
  if (declaration.usage !== undefined) command.usage(declaration.usage)
  for (const { name, says } of declaration.args) command.argument(name, says)
  for (const option of declaration.options) command.addOption(commanderOption(option, declaration))
  command.exitOverride((error) => misuse(error, command))
}

// In place of commander's own, which knows commands of one word alone and says nothing of one that is not there.
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

function commanderOption(name: OptionName, { help = {} }: CommandDeclaration): Option {
  const { kind, short, placeholder, ...option } = optionOf(name)
  const { says = option.says, shown = shownDefault(name) } = help[name] ?? {}
  const flags = [short, flagOf(name)].filter((each) => each !== undefined).join(', ')
  const hint = kind === 'switch' ? says : `${says} (default: ${shown})`
  const declared = new Option(placeholder === undefined ? flags : `${flags} <${placeholder}>`, hint)
  if (kind === 'switch') return declared
  // Only gathered here: values are parsed where those of the environment are, by the same rules.
  return declared.argParser((text, before: readonly string[] | undefined) => [...(before ?? []), text])
}

function flagsOf(command: Command, { options }: CommandDeclaration): Flags {
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

/** Says in our words what commander found wrong. */
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
      return `${pathOf(command)} needs a ${quoted}, ${meaningOf(quoted, command)}.`
    default:
      return `${error.message.replace(/^error: /, '')}.`
  }
}

function meaningOf(argument: string, { registeredArguments }: Command): string {
  return registeredArguments.find((each) => each.name() === argument)?.description ?? ''
}

// What stands where a command is expected reaches the default command, or the one above it, as its argument.
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
  return [`${pathOf(command)} does not take "${first}".`, takes(command)]
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
  return `Run "${pathOf(command)} --help" for what it takes.`
}

function longFlags(command: Command): string[] {
  return ['--help', ...command.options.flatMap(({ long }) => long ?? [])]
}

function commandNames(): string[] {
  return commands.map(({ name }) => name).filter((name) => !name.includes(' '))
}

function pathOf(command: Command): string {
  return command.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name()
}
