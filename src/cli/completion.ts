import { type Command, CommandFailed, command, OK } from '../terminal/command.ts'
import { type ControlAddress, controlOf } from '../terminal/control-client.ts'
import { flagOf, SANDBOX_OPTIONS, UsageError } from '../terminal/options.ts'
import { show } from '../terminal/print.ts'

/** Scripts that ask this program for the words that fit, so that they never become out of date. */
const SCRIPTS: Readonly<Record<string, string>> = {
  bash: `_workspace_emulator() {
  local IFS=$'\\n'
  COMPREPLY=($(workspace-emulator completion bash -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _workspace_emulator workspace-emulator`,
  zsh: `#compdef workspace-emulator
_workspace_emulator() {
  compadd -- \${(f)"$(workspace-emulator completion zsh -- "\${(@)words[2,CURRENT]}" 2>/dev/null)"}
}
compdef _workspace_emulator workspace-emulator`,
  fish: `complete -c workspace-emulator -a '(workspace-emulator completion fish -- (commandline -opc)[2..] (commandline -ct) 2>/dev/null)'`,
}

/** The lists of the emulator with the flags, and the commands for their first argument, after which their names fit. */
const PLACES = {
  'GET /sandboxes': ['--sandbox', 'sandbox delete'],
  'GET /operations': ['--operation', 'limits fill', 'limits set', 'limits clear'],
  'GET /fault-presets': ['faults add', 'faults presets'],
  'GET /scenarios': ['--scenario', 'scenario start'],
} as const

/** Milliseconds that an emulator has for its names: a person waits for them. */
const PATIENCE = 3_000

/** The commands about the completion of words. @param load all commands */
export function completionCommands(load: () => Promise<readonly Command[]>) {
  return [
    command({
      name: 'completion',
      description:
        'Print the script that completes commands, flags, presets, scenarios, sandboxes and operations in a shell',
      args: {
        '<shell>': 'bash, zsh or fish',
        '[words...]': 'after --, words to complete; the scripts use this',
      },
      options: SANDBOX_OPTIONS,
      run: async (invocation) => {
        const { args, afterDashes, options, terminal } = invocation
        const [shell = '', ...others] = args
        const script = SCRIPTS[shell]
        if (script === undefined)
          throw new UsageError([`<shell>: "${shell}" is unknown. Give bash, zsh or fish.`])
        if (others.length === 0) {
          terminal.out(options.json ? JSON.stringify({ script }) : script)
          return OK
        }
        const current = afterDashes.at(-1) ?? ''
        const possible = await wordsAfter(afterDashes.slice(0, -1), current, await load(), options)
        const words = [...new Set(possible)].filter((word) => word.startsWith(current))
        return show(invocation, { words }, words)
      },
    }),
  ]
}

/** The words that are possible after others; flags only for a word that begins as one. */
async function wordsAfter(
  before: readonly string[],
  current: string,
  commands: readonly Command[],
  address: ControlAddress,
): Promise<string[]> {
  const last = before.at(-1) ?? ''
  const flags = commands.flatMap(({ options }) => Object.entries(options))
  const takesValue = (word: string | undefined) =>
    flags.some(([name, option]) => option.kind !== 'switch' && flagOf(name, option) === word)
  if (takesValue(last)) return namesFor(last, address)
  const plain = before.filter((word, n) => !word.startsWith('-') && !takesValue(before[n - 1]))
  const named = (length: number) => commands.find(({ name }) => name === plain.slice(0, length).join(' '))
  const present = named(2) ?? named(1)
  if (current.startsWith('-')) return Object.entries(present?.options ?? {}).map((each) => flagOf(...each))
  const path = plain.map((word) => `${word} `).join('')
  const next = commands.filter(({ name }) => name.startsWith(path))
  const isComplete = present?.name === plain.join(' ')
  return [
    ...next.map(({ name }) => name.slice(path.length).split(' ')[0] ?? ''),
    ...(isComplete ? await namesFor(present.name, address) : []),
  ]
}

async function namesFor(place: string, address: ControlAddress): Promise<string[]> {
  const lists = Object.keys(PLACES) as (keyof typeof PLACES)[]
  const list = lists.find((each) => PLACES[each].some((known) => known === place))
  if (list === undefined) return []
  try {
    const { data } = await controlOf(address, PATIENCE)(list)
    return data.map(({ name }) => name)
  } catch (error) {
    if (error instanceof CommandFailed) return []
    throw error
  }
}
