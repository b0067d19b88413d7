import { writeFile } from 'node:fs/promises'
import type { JsonObject } from '../../kernel/json.ts'
import { ask, RequestRefused } from './control-client.ts'
import type { SandboxInvocation } from './invocation.ts'
import { issueLine, located, readJsonFile } from './json-files.ts'
import { cell, columns, objectsOf, show } from './print.ts'
import { CommandFailed, OK } from './usage.ts'
import { argument, sandboxName } from './values.ts'

/** `snapshot list`: the snapshots of the sandbox. */
export async function list(invocation: SandboxInvocation): Promise<number> {
  const body = await ask(invocation.options, 'GET', '/snapshots')
  const rows = objectsOf(body.data).map(({ name, saved_at, revision, records, problem }) =>
    [name, saved_at, revision, records, problem].map(cell),
  )
  const lines =
    rows.length === 0
      ? ['There are no snapshots. "workspace-emulator snapshot save NAME" saves one.']
      : columns([['NAME', 'CLOCK', 'REVISION', 'RECORDS', ''], ...rows])
  return show(invocation, body, lines)
}

/** `snapshot save`: keeps the world under a name. */
export async function save(invocation: SandboxInvocation): Promise<number> {
  const name = nameOf(invocation)
  const body = await ask(invocation.options, 'POST', '/snapshots', { name })
  return show(invocation, body, [`Snapshot ${name} saved${factsOf(body)}.`])
}

/** `snapshot restore`: takes the world back to a snapshot. */
export async function restore(invocation: SandboxInvocation): Promise<number> {
  const name = nameOf(invocation)
  const body = await ask(invocation.options, 'POST', `/snapshots/${name}/restore`)
  return show(invocation, body, [`The world is that of snapshot ${name} again; its clock says ${body.now}.`])
}

/** `snapshot delete`. */
export async function remove(invocation: SandboxInvocation): Promise<number> {
  const name = nameOf(invocation)
  await ask(invocation.options, 'DELETE', `/snapshots/${name}`)
  return show(invocation, { deleted: name }, [`Snapshot ${name} deleted.`])
}

/** `snapshot export`: the state document of a snapshot, into a file or on stdout. */
export async function exportTo(invocation: SandboxInvocation): Promise<number> {
  const name = nameOf(invocation)
  const [, file] = invocation.args
  const document = await ask(invocation.options, 'GET', `/snapshots/${name}`)
  const { options, terminal } = invocation
  if (file === undefined) {
    terminal.out(options.json ? JSON.stringify(document) : JSON.stringify(document, null, 2))
    return OK
  }
  await write(file, document)
  return show(invocation, { exported: name, file }, [`Snapshot ${name} written to ${file}.`])
}

/** `snapshot import`: keeps the state document of a file as a snapshot. */
export async function importFrom(invocation: SandboxInvocation): Promise<number> {
  const name = nameOf(invocation)
  const [, file = ''] = invocation.args
  const read = await readJsonFile(file)
  if ('issues' in read) throw new CommandFailed(read.issues.map((issue) => issueLine(file, issue)).join('\n'))
  const body = await ask(invocation.options, 'PUT', `/snapshots/${name}`, read.document).catch((error) => {
    if (!(error instanceof RequestRefused) || error.issues.length === 0) throw error
    const lines = located(read.text, error.issues).map((issue) => `  ${issueLine(file, issue)}`)
    throw new CommandFailed(['The document cannot be used as a snapshot:', ...lines].join('\n'))
  })
  return show(invocation, body, [`Snapshot ${name} made of ${file}${factsOf(body)}.`])
}

function nameOf({ args: [name = ''] }: SandboxInvocation): string {
  return argument('name', sandboxName, name)
}

function factsOf({ saved_at, records, replaced }: JsonObject): string {
  const instead = replaced === true ? ', in place of the one before' : ''
  return `: ${records} records, clock ${saved_at}${instead}`
}

// The secrets of webhook subscriptions are in it, so that nobody else may read it.
async function write(file: string, document: JsonObject): Promise<void> {
  try {
    await writeFile(file, `${JSON.stringify(document, null, 2)}\n`, { mode: 0o600 })
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error)
    throw new CommandFailed(
      `${file} cannot be written (${code}). Give the path of a file in a directory that is there.`,
    )
  }
}
