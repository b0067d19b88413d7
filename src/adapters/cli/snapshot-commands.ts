import type { OwnCalls } from '../control/client/ask.ts'
import { NAME_ARGUMENT, nameCommand } from './call-command.ts'
import { command, listCommands, SANDBOX_OPTIONS, type SandboxInvocation } from './command.ts'
import { controlOf } from './control-client.ts'
import { exported } from './export.ts'
import { refusedFile, requireJsonFile } from './json-files.ts'
import { nameArgument } from './options.ts'
import { cell, columns, show } from './print.ts'

export const snapshotCommands = [
  ...listCommands(
    'snapshot',
    'List the snapshots of a sandbox',
    'List the snapshots, the same as snapshot alone',
    SANDBOX_OPTIONS,
    listSnapshots,
  ),
  nameCommand(
    'snapshot save',
    'Save the whole state, clock included; it replaces a snapshot of that name',
    SANDBOX_OPTIONS,
    async (ask, name) => {
      const body = await ask('POST /snapshots', { body: { name } })
      return [body, `Snapshot ${name} saved${factsOf(body)}.`]
    },
  ),
  nameCommand(
    'snapshot restore',
    'Restore everything from a snapshot, the clock included',
    SANDBOX_OPTIONS,
    async (ask, name) => {
      const body = await ask('POST /snapshots/{name}/restore', { params: { name } })
      return [body, `The sandbox is restored from snapshot ${name}; its clock is at ${body.now}.`]
    },
  ),
  nameCommand('snapshot delete', 'Delete a snapshot', SANDBOX_OPTIONS, async (ask, name) => {
    await ask('DELETE /snapshots/{name}', { params: { name } })
    return [{ deleted: name }, `Snapshot ${name} deleted.`]
  }),
  command({
    name: 'snapshot export',
    description: 'Write the state document of a snapshot into a file, or on stdout',
    args: [NAME_ARGUMENT, { name: '[file]', description: 'JSON file to write; an existing one is replaced' }],
    options: SANDBOX_OPTIONS,
    run: async (invocation) => {
      const { args, options } = invocation
      const name = nameArgument(args)
      const document = await controlOf(options)('GET /snapshots/{name}', { params: { name } })
      const [, file] = args
      return exported(invocation, document, file, `Snapshot ${name}`)
    },
  }),
  command({
    name: 'snapshot import',
    description: 'Store the state document of a file as a snapshot',
    args: [NAME_ARGUMENT, { name: '<file>', description: 'JSON file with a state document' }],
    options: SANDBOX_OPTIONS,
    run: async (invocation) => {
      const { args, options } = invocation
      const name = nameArgument(args)
      const [, path = ''] = args
      const { text, document } = await requireJsonFile(path)
      const body = await controlOf(options)('PUT /snapshots/{name}', {
        params: { name },
        body: document,
      }).catch((error: unknown) => {
        throw refusedFile('The document cannot be used as a snapshot:', { path, text }, error)
      })
      return show(invocation, body, [`Snapshot ${name} created from ${path}${factsOf(body)}.`])
    },
  }),
]

async function listSnapshots(invocation: SandboxInvocation): Promise<number> {
  const body = await controlOf(invocation.options)('GET /snapshots')
  const rows = body.data.map(({ name, saved_at, revision, records, problem }) =>
    [name, saved_at, revision, records, problem].map(cell),
  )
  const none = 'There are no snapshots. "workspace-emulator snapshot save NAME" saves one.'
  const head = ['NAME', 'CLOCK', 'REVISION', 'RECORDS', '']
  return show(invocation, body, rows.length === 0 ? [none] : columns([head, ...rows]))
}

function factsOf({ saved_at, records, replaced }: OwnCalls['POST /snapshots']['output']): string {
  const instead = replaced ? ', in place of the previous one' : ''
  return `: ${records} records, clock ${saved_at}${instead}`
}
