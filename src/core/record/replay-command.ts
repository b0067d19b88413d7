import { shellWord } from '../shell-word.ts'

/** The files of a recording that are programs, by their paths. */
export function scriptsOf({ scenarios }: { readonly scenarios: Readonly<Record<string, string>> }): string[] {
  return Object.keys(scenarios).filter((path) => !path.endsWith('.json'))
}

/** The command that repeats a recording, without the flag that runs its scripts. */
export function replayCommand(file: string, hasScripts = false): string {
  const command = `npx agent-workspace-emulator replay ${shellWord(file)}`
  return hasScripts ? `${command}  (contains scripts: read them first)` : command
}
