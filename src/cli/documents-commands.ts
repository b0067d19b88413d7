import { didYouMean } from '../core/did-you-mean.ts'
import { fileSchemas, openApiDocument } from '../emulator/documents.ts'
import type { Invocation } from '../terminal/command.ts'
import { type PRINT_OPTIONS, UsageError } from '../terminal/options.ts'
import { prettyLines, show } from '../terminal/print.ts'

/** `openapi`: the document that `GET /__emulator/openapi.json?api=workspace` of a new emulator gives. */
export async function openapi(invocation: Invocation<typeof PRINT_OPTIONS>): Promise<number> {
  const document = openApiDocument()
  return show(invocation, document, prettyLines(document))
}

/** `schema`: the JSON Schema of a kind of files, or without a name the names of all kinds. */
export async function schema(invocation: Invocation<typeof PRINT_OPTIONS>): Promise<number> {
  const [name] = invocation.args
  const names = Object.keys(fileSchemas)
  if (name === undefined) return show(invocation, { schemas: names }, names)
  if (!Object.hasOwn(fileSchemas, name)) {
    const hint = didYouMean(name, names) || ` Give one of ${names.join(', ')}.`
    throw new UsageError([`<name>: there is no schema "${name}".${hint}`])
  }
  const document = fileSchemas[name as keyof typeof fileSchemas]()
  return show(invocation, document, prettyLines(document))
}
