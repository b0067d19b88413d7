import type { Issue, JsonObject } from '../../kernel/json.ts'
import { FixturesError, readFixtures, SHIPPED_WORLDS } from '../fixtures.ts'
import { ask, originOf, RequestRefused } from './control-client.ts'
import { locateFixtures } from './fixtures-lines.ts'
import type { ClientInvocation, CREATE_OPTIONS, Invocation } from './invocation.ts'
import { issueLine, located, readJsonFile, readJsonObject } from './json-files.ts'
import { cell, columns, objectsOf, show } from './print.ts'
import { startFailure } from './start-failure.ts'
import { CommandFailed } from './usage.ts'
import { argument, sandboxName } from './values.ts'

type CreateInvocation = Invocation<(typeof CREATE_OPTIONS)[number]>

/** `sandbox list`: every sandbox of the emulator. */
export async function list(invocation: ClientInvocation): Promise<number> {
  const body = await ask(invocation.options, 'GET', '/sandboxes')
  const rows = objectsOf(body.data).map(({ name, now, rate, records, requests, persist, base_url_path }) => [
    ...[name, now, rate === 0 ? 'frozen' : rate, records, requests].map(cell),
    persist === true ? 'on disk' : 'in memory',
    `${originOf(invocation.options)}${cell(base_url_path)}`,
  ])
  const head = ['NAME', 'CLOCK', 'RATE', 'RECORDS', 'REQUESTS', 'KEPT', 'BASE URL']
  return show(invocation, body, columns([head, ...rows]))
}

/** `sandbox create`: makes a sandbox, from what the flags say or as the emulator was started. */
export async function create(invocation: CreateInvocation): Promise<number> {
  const { args, options, given, typed } = invocation
  const { seed, clock, persist, fromSnapshot } = options
  // A snapshot brings its own, whatever the variables say that the emulator beside this command was started with.
  const says = fromSnapshot === undefined ? given : typed
  const name = argument('name', sandboxName, args[0] ?? '')
  const body = await ask(options, 'POST', '/sandboxes', {
    name,
    ...(says.has('fixtures') ? { fixtures: await fixturesOf(options.fixtures) } : {}),
    ...(says.has('seed') ? { seed } : {}),
    ...(clock === undefined || !says.has('clock') ? {} : { clock }),
    ...(options.settings === undefined || !says.has('settings')
      ? {}
      : { settings: await readJsonObject(options.settings) }),
    ...(given.has('persist') ? { persist } : {}),
    ...(fromSnapshot === undefined ? {} : { from_snapshot: fromSnapshot }),
  }).catch(async (error: unknown) => {
    throw await inFiles(error, options)
  })
  return show(invocation, body, [
    `Sandbox ${name} is there: ${originOf(options)}${cell(body.base_url_path)}`,
    `  clock  ${body.now}, seed ${body.seed}, ${body.records} records, ${body.persist === true ? 'on disk' : 'in memory'}`,
  ])
}

/** `sandbox delete`. */
export async function remove(invocation: ClientInvocation): Promise<number> {
  const name = argument('name', sandboxName, invocation.args[0] ?? '')
  await ask(invocation.options, 'DELETE', `/sandboxes/${name}`)
  return show(invocation, { deleted: name }, [`Sandbox ${name} removed, with its snapshots.`])
}

// Files are read here: the emulator may be in a container, and its control interface opens none.
async function fixturesOf(source: string): Promise<string | JsonObject> {
  if (SHIPPED_WORLDS.some((world) => world === source)) return source
  const read = await readFixtures(source).catch(async (error: unknown) => {
    throw error instanceof FixturesError ? new CommandFailed(await startFailure(error)) : error
  })
  return { ...read } as unknown as JsonObject
}

/** What was refused, with the lines of the files that it came from. */
async function inFiles(
  error: unknown,
  { fixtures, settings }: CreateInvocation['options'],
): Promise<unknown> {
  if (!(error instanceof RequestRefused)) return error
  const inFixtures = below('/fixtures', error.issues)
  const inSettings = below('/settings', error.issues)
  if (inFixtures.length > 0) {
    const lines = (await locateFixtures(fixtures, inFixtures)).map((issue) => issueLine(issue.file, issue))
    return new CommandFailed(['The fixtures cannot be used:', ...lines].join('\n  '))
  }
  if (inSettings.length === 0 || settings === undefined) return error
  const read = await readJsonFile(settings)
  const lines =
    'text' in read ? located(read.text, inSettings).map((issue) => issueLine(settings, issue)) : []
  return new CommandFailed(['The settings cannot be used:', ...lines].join('\n  '))
}

function below(member: string, issues: readonly Issue[]): Issue[] {
  return issues
    .filter(({ pointer }) => pointer.startsWith(`${member}/`))
    .map((issue) => ({ ...issue, pointer: issue.pointer.slice(member.length) }))
}
