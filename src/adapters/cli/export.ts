import { type Invocation, OK } from './command.ts'
import { show } from './print.ts'
import { writeText } from './text-file.ts'

/**
 * Writes a document into a file, or to stdout without a file. Throws {@link CommandFailed} when it cannot be written.
 * @param what the name of the document in the message: `State`
 */
export async function exported(
  invocation: Invocation<'json'>,
  document: object,
  file: string | undefined,
  what: string,
): Promise<number> {
  const { options, terminal } = invocation
  if (file === undefined) {
    terminal.out(JSON.stringify(document, null, options.json ? 0 : 2))
    return OK
  }
  // It may hold secrets, so that other users may not read it.
  writeText(file, `${JSON.stringify(document, null, 2)}\n`, 0o600)
  return show(invocation, { exported: what, file }, [`${what} written to ${file}.`])
}
