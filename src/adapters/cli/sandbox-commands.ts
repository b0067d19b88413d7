import { writeFile } from 'node:fs/promises'
import type { Issue } from '../../core/json.ts'
import type { Ask, OwnCalls } from '../control/client/ask.ts'
import { FixturesError, readFixtures, SHIPPED_FIXTURES } from '../fixtures.ts'
import {
  CLIENT_OPTIONS,
  type Command,
  CommandFailed,
  command,
  type Invocation,
  listCommands,
  OK,
  SANDBOX_OPTIONS,
  type SandboxInvocation,
} from './command.ts'
import { controlOf, emulatorOrigin, RequestRefused } from './control-client.ts'
import { fixturesFailure, refusedFile, requireJsonFile, settingsFailure } from './json-files.ts'
import { nameArgument, type OptionValues } from './options.ts'
import { cell, codeOf, columns, show } from './print.ts'

const NAME = { name: '<name>', description: 'lower-case letters, digits and hyphens' }

/** A command that makes one call about a name, and shows its output in one line. */
function aboutName(
  name: string,
  description: string,
  options: typeof CLIENT_OPTIONS | typeof SANDBOX_OPTIONS,
  call: (ask: Ask, name: string) => Promise<readonly [output: object, line: string]>,
): Command {
  const run = async (invocation: SandboxInvocation): Promise<number> => {
    const [output, line] = await call(controlOf(invocation.options), nameArgument(invocation.args))
    return show(invocation, output, [line])
  }
  return command({ name, description, args: [NAME], options, run })
}

// The default is that of the emulator's own start, which a client does not know.
const AS_STARTED = { shown: 'as the emulator was started' }

export const sandboxCommands = [
  ...listCommands(
    'sandbox',
    'List the sandboxes of the emulator',
    'List the sandboxes, as sandbox alone does',
    CLIENT_OPTIONS,
    listSandboxes,
  ),
  command({
    name: 'sandbox create',
    description: 'Make a sandbox: as the emulator was started, or as the flags say',
    args: [NAME],
    options: [
      ...SANDBOX_OPTIONS,
      ...([
        'fixtures',
        'seed',
        'clock',
        'rate',
        'skipOnPoll',
        'settings',
        'scenario',
        'persist',
        'fromSnapshot',
      ] as const),
    ],
    help: {
      fixtures: AS_STARTED,
      seed: AS_STARTED,
      clock: AS_STARTED,
      rate: AS_STARTED,
      skipOnPoll: AS_STARTED,
      scenario: { description: 'scenario that is started on it' },
      settings: AS_STARTED,
      sandbox: { description: 'sandbox whose snapshot --from-snapshot names' },
    },
    run: async (invocation) => {
      const { args, options, given, typed } = invocation
      const { seed, clock, rate, skipOnPoll, scenario, persist, fromSnapshot, settings } = options
      // A snapshot brings its own values, whatever variables the emulator next to this command was started with.
      const start = fromSnapshot === undefined ? given : typed
      const name = nameArgument(args)
      const draft = {
        name,
        ...(start.has('fixtures') ? { fixtures: await readSource(options.fixtures) } : {}),
        ...(start.has('seed') ? { seed } : {}),
        ...(clock !== undefined && start.has('clock') ? { clock } : {}),
        ...(start.has('rate') ? { rate } : {}),
        ...(start.has('skipOnPoll') ? { skip_on_poll: skipOnPoll } : {}),
        ...(scenario !== undefined && start.has('scenario') ? { scenario } : {}),
        ...(settings !== undefined && start.has('settings')
          ? { settings: (await requireJsonFile(settings)).document }
          : {}),
        ...(given.has('persist') ? { persist } : {}),
        ...(fromSnapshot === undefined ? {} : { from_snapshot: fromSnapshot }),
      }
      const body = await controlOf(options)('POST /sandboxes', { body: draft }).catch(
        async (error: unknown) => {
          throw await inFiles(error, options)
        },
      )
      return show(invocation, body, [
        `Sandbox ${name} is there: ${emulatorOrigin(options)}${body.base_url_path}`,
        `  clock  ${body.now}, seed ${body.seed}, ${body.records} records, ${body.persist ? 'on disk' : 'in memory'}`,
      ])
    },
  }),
  aboutName(
    'sandbox delete',
    'Remove a sandbox and all that belongs to it',
    CLIENT_OPTIONS,
    async (ask, name) => {
      await ask('DELETE /sandboxes/{name}', { params: { name } })
      return [{ deleted: name }, `Sandbox ${name} removed, with its snapshots.`]
    },
  ),
]

async function listSandboxes(invocation: Invocation<(typeof CLIENT_OPTIONS)[number]>): Promise<number> {
  const body = await controlOf(invocation.options)('GET /sandboxes')
  const rows = body.data.map((each) => [
    each.name,
    ...(each.state === 'open'
      ? [each.now, each.rate === 0 ? 'frozen' : each.rate, each.records, each.requests]
      : [each.state === 'broken' ? 'broken' : 'not opened yet', '-', '-', '-']
    ).map(cell),
    each.persist ? 'on disk' : 'in memory',
    `${emulatorOrigin(invocation.options)}${each.base_url_path}`,
  ])
  const problems = body.data.flatMap((each) =>
    'problem' in each && each.problem !== null ? [each.problem] : [],
  )
  const head = ['NAME', 'CLOCK', 'RATE', 'RECORDS', 'REQUESTS', 'KEPT', 'BASE URL']
  return show(invocation, body, [...columns([head, ...rows]), ...problems])
}

type Fixtures = NonNullable<NonNullable<OwnCalls['POST /reset']['body']>['fixtures']>

// Files are read here: the emulator may be in a container, and its control interface opens none.
async function readSource(source: string): Promise<Fixtures> {
  const shipped = SHIPPED_FIXTURES.find((name) => name === source)
  if (shipped !== undefined) return shipped
  const read = await readFixtures(source).catch(async (error: unknown) => {
    if (!(error instanceof FixturesError)) throw error
    throw new CommandFailed(await fixturesFailure(error.file, error.issues))
  })
  // The emulator checks the document.
  return { ...read } as Fixtures
}

/** A refused request, with the lines of the files that its body came from. */
async function inFiles(
  error: unknown,
  { fixtures, settings }: OptionValues<'fixtures' | 'settings'>,
): Promise<unknown> {
  if (!(error instanceof RequestRefused)) return error
  const inFixtures = issuesBelow('/fixtures', error.issues)
  if (inFixtures.length > 0) return new CommandFailed(await fixturesFailure(fixtures, inFixtures))
  const inSettings = issuesBelow('/settings', error.issues)
  if (inSettings.length === 0 || settings === undefined) return error
  return new CommandFailed(await settingsFailure(settings, inSettings))
}

function issuesBelow(field: string, issues: readonly Issue[]): Issue[] {
  return issues
    .filter(({ pointer }) => pointer.startsWith(`${field}/`))
    .map((issue) => ({ ...issue, pointer: issue.pointer.slice(field.length) }))
}

export const snapshotCommands = [
  ...listCommands(
    'snapshot',
    'List the snapshots of a sandbox',
    'List the snapshots, as snapshot alone does',
    SANDBOX_OPTIONS,
    listSnapshots,
  ),
  aboutName(
    'snapshot save',
    'Save the whole state, clock included; it replaces a snapshot of that name',
    SANDBOX_OPTIONS,
    async (ask, name) => {
      const body = await ask('POST /snapshots', { body: { name } })
      return [body, `Snapshot ${name} saved${factsOf(body)}.`]
    },
  ),
  aboutName(
    'snapshot restore',
    'Take everything back to a snapshot, the clock included',
    SANDBOX_OPTIONS,
    async (ask, name) => {
      const body = await ask('POST /snapshots/{name}/restore', { params: { name } })
      return [body, `The sandbox is that of snapshot ${name} again; its clock says ${body.now}.`]
    },
  ),
  aboutName('snapshot delete', 'Delete a snapshot', SANDBOX_OPTIONS, async (ask, name) => {
    await ask('DELETE /snapshots/{name}', { params: { name } })
    return [{ deleted: name }, `Snapshot ${name} deleted.`]
  }),
  command({
    name: 'snapshot export',
    description: 'Write the state document of a snapshot into a file, or on stdout',
    args: [NAME, { name: '[file]', description: 'JSON file to write; an existing one is replaced' }],
    options: SANDBOX_OPTIONS,
    run: async (invocation) => {
      const { args, options, terminal } = invocation
      const name = nameArgument(args)
      const document = await controlOf(options)('GET /snapshots/{name}', { params: { name } })
      const [, file] = args
      if (file === undefined) {
        terminal.out(JSON.stringify(document, null, options.json ? 0 : 2))
        return OK
      }
      await write(file, document)
      return show(invocation, { exported: name, file }, [`Snapshot ${name} written to ${file}.`])
    },
  }),
  command({
    name: 'snapshot import',
    description: 'Keep the state document of a file as a snapshot',
    args: [NAME, { name: '<file>', description: 'JSON file that holds a state document' }],
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
      return show(invocation, body, [`Snapshot ${name} made of ${path}${factsOf(body)}.`])
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
  const instead = replaced ? ', in place of the one before' : ''
  return `: ${records} records, clock ${saved_at}${instead}`
}

// It holds the secrets of webhook subscriptions, so that other users may not read it.
async function write(file: string, document: object): Promise<void> {
  await writeFile(file, `${JSON.stringify(document, null, 2)}\n`, { mode: 0o600 }).catch((error: unknown) => {
    throw new CommandFailed(
      `${file} cannot be written (${codeOf(error)}). Give the path of a file in an existing directory.`,
    )
  })
}
