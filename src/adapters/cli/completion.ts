import { type Command, CommandFailed, type Invocation } from './command.ts'
import { flagOf } from './options.ts'
import { show } from './print.ts'

const SHELLS = ['bash', 'zsh', 'fish'] as const

/** The words that may follow a command, by its name. The empty name has the words that may come first. */
export type Completions = ReadonlyMap<string, readonly string[]>

/** `completion`: prints a script that completes commands and flags in a shell. */
export async function completion(
  invocation: Invocation<'json'>,
  commands: readonly Command[],
): Promise<number> {
  const [name] = invocation.args
  const shell = SHELLS.find((each) => each === name)
  if (shell === undefined)
    throw new CommandFailed(`There is no completion for "${name}". Give bash, zsh or fish.`)
  const words = completionsOf(commands)
  const lines = shell === 'fish' ? fishScript(words) : bashScript(words, shell === 'zsh')
  return show(invocation, { shell, script: lines.join('\n') }, lines)
}

export function completionsOf(commands: readonly Command[]): Completions {
  const words = new Map<string, string[]>([['', ['help', '--help', '--version']]])
  const add = (after: string, word: string) => {
    const known = words.get(after) ?? []
    if (!known.includes(word)) words.set(after, [...known, word])
  }
  for (const { name, options } of commands) {
    const [first = '', second] = name.split(' ')
    add('', first)
    if (second !== undefined) add(first, second)
    for (const flag of [...options.map(flagOf), '--help']) add(name, flag)
  }
  return words
}

// Longer names come first: arguments may follow a command, and the shell uses the first pattern that matches.
function byLength(words: Completions): [string, readonly string[]][] {
  return [...words]
    .filter(([name]) => name !== '')
    .sort(([a], [b]) => b.split(' ').length - a.split(' ').length)
}

function bashScript(words: Completions, isZsh: boolean): string[] {
  const cases = byLength(words).map(
    ([name, list]) => `    "${name}"|"${name} "*) words="${list.join(' ')}" ;;`,
  )
  return [
    ...(isZsh ? ['autoload -U +X bashcompinit && bashcompinit'] : []),
    '_workspace_emulator() {',
    '  local given="" word words',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: these braces are for the shell.
    '  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: these braces are for the shell.
    '    case "$word" in -*) ;; *) given="${given:+$given }$word" ;; esac',
    '  done',
    '  case "$given" in',
    ...cases,
    `    *) words="${(words.get('') ?? []).join(' ')}" ;;`,
    '  esac',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: these braces are for the shell.
    '  COMPREPLY=($(compgen -W "$words" -- "${COMP_WORDS[COMP_CWORD]}"))',
    '}',
    'complete -o default -F _workspace_emulator workspace-emulator',
  ]
}

function fishScript(words: Completions): string[] {
  const firsts = (words.get('') ?? []).filter((word) => !word.startsWith('-'))
  const rows = byLength(words).map(([name, list]) => {
    const [first = '', second] = name.split(' ')
    const seen = [first, second].flatMap((word) =>
      word === undefined ? [] : [`__fish_seen_subcommand_from ${word}`],
    )
    return `complete -c workspace-emulator -n '${seen.join('; and ')}' -a '${list.join(' ')}'`
  })
  return [`complete -c workspace-emulator -n '__fish_use_subcommand' -f -a '${firsts.join(' ')}'`, ...rows]
}
