import { readFixtures, SHIPPED_FIXTURES } from '../adapters/fixtures.ts'
import type { OwnCalls } from '../control-client/ask.ts'
import { FixturesError } from '../core/fixtures-error.ts'
import { optional, toggle } from '../emulator/option.ts'
import { call, sandboxCommand } from '../terminal/call-command.ts'
import { CommandFailed, type Invocation } from '../terminal/command.ts'
import { emulatorOrigin, RequestRefused } from '../terminal/control-client.ts'
import { fixturesFailure, requireJsonFile, settingsFailure } from '../terminal/json-files.ts'
import { described, kinds, type OptionValues, SHARED, START_OPTIONS } from '../terminal/options.ts'
import { show, table } from '../terminal/print.ts'

// The defaults come from the start of the emulator, which a client cannot see.
const shown = 'as the emulator was started'
const { fixtures, seed, clock, rate, skipOnPoll, settings, scenario } = START_OPTIONS

const CREATE_OPTIONS = {
  sandbox: described(SHARED.sandbox, 'sandbox whose snapshot --from-snapshot names'),
  fixtures: { ...fixtures, shown },
  seed: { ...seed, shown },
  clock: { ...clock, shown },
  rate: { ...rate, shown },
  skipOnPoll: { ...skipOnPoll, shown },
  settings: { ...settings, shown },
  scenario: described(scenario, 'scenario that is started on it'),
  persist: toggle('keep the sandbox on disk, so that it outlives the process'),
  fromSnapshot: optional(kinds.sandboxName, 'none', 'snapshot of --sandbox to start from'),
}

const NAME = { '<name>': 'lower-case letters, digits and hyphens' }

export const sandboxCommands = [
  call('snapshot list', 'GET /snapshots', {
    description: 'List the snapshots of a sandbox',
    lines: ({ data }) => {
      if (data.length === 0)
        return ['There are no snapshots. "workspace-emulator snapshot save NAME" saves one.']
      const rows = data.map((each) => [each.name, each.saved_at, each.revision, each.records, each.problem])
      return table(['NAME', 'CLOCK', 'REVISION', 'RECORDS', ''], rows)
    },
  }),
  call('snapshot save', 'POST /snapshots', {
    description: 'Save the whole state, clock included; it replaces a snapshot of that name',
    args: NAME,
    body: ({ name }) => ({ name }),
    lines: ({ name, records, saved_at, replaced }) => {
      const instead = replaced ? ', in place of the previous one' : ''
      return [`Snapshot ${name} saved: ${records} records, clock ${saved_at}${instead}.`]
    },
  }),
  call('snapshot restore', 'POST /snapshots/{name}/restore', {
    description: 'Restore everything from a snapshot, the clock included',
    args: NAME,
    lines: ({ now }, { name }) => [`The sandbox is restored from snapshot ${name}; its clock is at ${now}.`],
  }),
  call('snapshot delete', 'DELETE /snapshots/{name}', {
    description: 'Delete a snapshot',
    args: NAME,
    lines: (_, { name }) => [`Snapshot ${name} deleted.`],
  }),
  call('sandbox list', 'GET /sandboxes', {
    description: 'List the sandboxes of the emulator',
    lines: ({ data }, _, options) => {
      const rows = data.map((each) => [
        each.name,
        ...(each.state === 'open'
          ? [each.now, each.rate === 0 ? 'frozen' : each.rate, each.records, each.requests]
          : [each.state === 'broken' ? 'broken' : 'not opened yet', '-', '-', '-']),
        each.persist ? 'on disk' : 'in memory',
        `${emulatorOrigin(options)}${each.base_url_path}`,
      ])
      const problems = data.flatMap((each) => ('problem' in each ? (each.problem ?? []) : []))
      const head = ['NAME', 'CLOCK', 'RATE', 'RECORDS', 'REQUESTS', 'KEPT', 'BASE URL']
      return [...table(head, rows), ...problems]
    },
  }),
  sandboxCommand('sandbox create', {
    description: 'Create a sandbox with the options of the emulator, changed by flags',
    args: NAME,
    options: CREATE_OPTIONS,
    run: async (ask, invocation) => {
      const { args, options } = invocation
      const [name = ''] = args
      const draft = { name, ...(await chosen(invocation)) }
      const body = await ask('POST /sandboxes', { body: draft }).catch(async (error: unknown) => {
        throw await inFiles(error, options)
      })
      return show(invocation, body, [
        `Sandbox ${name} created: ${emulatorOrigin(options)}${body.base_url_path}`,
        `  clock  ${body.now}, seed ${body.seed}, ${body.records} records, ${body.persist ? 'on disk' : 'in memory'}`,
      ])
    },
  }),
  call('sandbox delete', 'DELETE /sandboxes/{name}', {
    description: 'Remove a sandbox with its snapshots and files',
    args: NAME,
    lines: (_, { name }) => [`Sandbox ${name} removed, with its snapshots.`],
  }),
]

/** The fields of a new sandbox that the command line sets. */
async function chosen({ options, given, typed }: Invocation<typeof CREATE_OPTIONS>) {
  const { persist, fromSnapshot } = options
  // A snapshot has its own values. Only flags change them, since variables may be those of the emulator's start.
  const isSet = fromSnapshot === undefined ? given : typed
  const own: Partial<typeof options> = Object.fromEntries(
    Object.entries(options).filter(([name]) => isSet.has(name)),
  )
  const { fixtures, settings, seed, clock, rate, scenario, skipOnPoll: skip_on_poll } = own
  return {
    ...{ seed, clock, rate, scenario, skip_on_poll, from_snapshot: fromSnapshot },
    fixtures: fixtures === undefined ? undefined : await readSource(fixtures),
    settings: settings === undefined ? undefined : (await requireJsonFile(settings)).document,
    persist: given.has('persist') ? persist : undefined,
  }
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
async function inFiles(error: unknown, options: OptionValues<typeof CREATE_OPTIONS>): Promise<unknown> {
  if (!(error instanceof RequestRefused)) return error
  const { fixtures, settings = '' } = options
  const { issues } = error
  const below = (field: string) =>
    issues
      .filter(({ pointer }) => pointer.startsWith(`${field}/`))
      .map((issue) => ({ ...issue, pointer: issue.pointer.slice(field.length) }))
  const [inFixtures, inSettings] = [below('/fixtures'), below('/settings')]
  if (inFixtures.length > 0) return new CommandFailed(await fixturesFailure(fixtures, inFixtures))
  return inSettings.length > 0 ? new CommandFailed(await settingsFailure(settings, inSettings)) : error
}
