/** A text as one word of a POSIX shell. */
export function shellWord(text: string): string {
  return /^[\w./:=@%+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}

/** The command that repeats a recording. */
export function replayCommand(file: string): string {
  return `npx workspace-emulator replay ${shellWord(file)}`
}
