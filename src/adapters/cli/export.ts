import { writeFile } from 'node:fs/promises'
import { CommandFailed, type Invocation, OK } from './command.ts'
import { codeOf, show } from './print.ts'

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
  const written = writeFile(file, `${JSON.stringify(document, null, 2)}\n`, { mode: 0o600 })
  await written.catch((error: unknown) => {
    throw new CommandFailed(
      `${file} cannot be written (${codeOf(error)}). Give the path of a file in an existing directory.`,
    )
  })
  return show(invocation, { exported: what, file }, [`${what} written to ${file}.`])
}
