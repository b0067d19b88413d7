import type { Issue } from '../../core/json.ts'
import type { OwnCalls } from '../control/client/ask.ts'
import { FixturesError, readFixtures, SHIPPED_FIXTURES } from '../fixtures.ts'
import { callCommand, NAME_ARGUMENT, nameCommand } from './call-command.ts'
import {
  CLIENT_OPTIONS,
  CommandFailed,
  command,
  type Invocation,
  listCommands,
  SANDBOX_OPTIONS,
} from './command.ts'
import { controlOf, emulatorOrigin, RequestRefused } from './control-client.ts'
import { fixturesFailure, requireJsonFile, settingsFailure } from './json-files.ts'
import { nameArgument, type OptionValues } from './options.ts'
import { cell, columns, show } from './print.ts'

// The defaults come from the start of the emulator, which a client cannot see.
const AS_STARTED = { shown: 'as the emulator was started' }

export const sandboxCommands = [
  ...listCommands(
    'sandbox',
    'List the sandboxes of the emulator',
    'List the sandboxes, the same as sandbox alone',
    CLIENT_OPTIONS,
    listSandboxes,
  ),
  command({
    name: 'sandbox create',
    description: 'Create a sandbox with the options of the emulator, changed by flags',
    args: [NAME_ARGUMENT],
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
      // A snapshot has its own values. Only flags change them, since variables may be those of the emulator's start.
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
        `Sandbox ${name} created: ${emulatorOrigin(options)}${body.base_url_path}`,
        `  clock  ${body.now}, seed ${body.seed}, ${body.records} records, ${body.persist ? 'on disk' : 'in memory'}`,
      ])
    },
  }),
  callCommand({
    name: 'sandbox show',
    description: 'Show a sandbox',
    args: [NAME_ARGUMENT],
    route: 'GET /sandboxes/{name}',
  }),
  nameCommand(
    'sandbox delete',
    'Remove a sandbox with its snapshots and files',
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

// Files are read here: the emulator may run in a container, and its control interface reads no files.
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

/** Adds the lines of the files to the error of a refused request whose body came from them. */
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
