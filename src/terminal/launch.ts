import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { isStorageFailure, Refusal } from '../core/errors.ts'
import { standingOf } from '../core/faults/standing.ts'
import { FixturesError } from '../core/fixtures-error.ts'
import { readyKeys } from '../core/request/plain-keys.ts'
import type { Sandbox } from '../core/sandboxes/sandbox.ts'
import { counted } from '../core/words.ts'
import { openEmulator, type RunningEmulator } from '../emulator/emulator.ts'
import type { Logger } from '../emulator/options.ts'
import { isLoopback } from '../server/origins.ts'
import { CommandFailed, type Terminal } from './command.ts'
import { fixturesFailure, isDirectory, requireJsonFile, settingsFailure } from './json-files.ts'
import { loggerTo } from './logger.ts'
import { type Environment, flagOf, type OptionValues, type START_OPTIONS } from './options.ts'
import { oneLine } from './print.ts'
import { environmentOf } from './variables.ts'

export type StartOptions = OptionValues<typeof START_OPTIONS>

/**
 * Starts an emulator with the options of the command line. Throws {@link CommandFailed} when it cannot start.
 * A warning about options without effect is logged once it has started.
 * @param onShutdown ends this process, if a client may request that
 */
export async function launch(
  options: StartOptions,
  given: ReadonlySet<string>,
  logger: Logger,
  onShutdown?: () => void,
): Promise<RunningEmulator> {
  const warning = oldStateWarning(options, given)
  const started = await launchOptions(options, given, logger)
  // `start` outlives a broken file, which is corrected while it runs; a command that exits would only report what follows from it.
  const own = onShutdown && { onShutdown, followEndpoints: true }
  const emulator = await openEmulator({ ...started, ...own }).catch(async (error: unknown) => {
    throw new CommandFailed(await startFailure(error, options))
  })
  if (warning !== undefined) logger.warn(warning)
  return emulator
}

/** The options of `start` in the form of the emulator's options. Throws {@link CommandFailed} for an unreadable settings file. */
export async function launchOptions(options: StartOptions, given: ReadonlySet<string>, logger: Logger) {
  const { logLevel, logFormat, logRequests, quiet, noColor, json, settings, ...start } = options
  if (given.has('endpoints') && !isDirectory(start.endpoints))
    logger.warn(`${start.endpoints} is not a directory: until it is, there are no endpoints of your own.`)
  if (given.has('scenarios') && !isDirectory(start.scenarios))
    logger.warn(`${start.scenarios} is not a directory: until it is, there are only the built-in scenarios.`)
  return {
    ...start,
    // Without a flag or variable, a saved sandbox keeps its own values.
    rate: given.has('rate') ? start.rate : undefined,
    skipOnPoll: given.has('skipOnPoll') ? start.skipOnPoll : undefined,
    settings: settings === undefined ? undefined : (await requireJsonFile(settings)).document,
    logger,
  }
}

/** The environment variables for the command. A variable stays unchanged when the sandbox has no key for it. */
export async function variablesOf(
  { baseUrl, plainKeys }: RunningEmulator,
  { fixtures, controlToken, host }: StartOptions,
  logger: Logger,
): Promise<Environment> {
  const keys = readyKeys(await plainKeys())
  const { user } = keys
  if (user === null) {
    logger.warn(`${fixtures} contains no key of a user: WORKSPACE_API_KEY stays unchanged.`)
  }
  if (controlToken !== undefined) {
    logger.info(`The control interface on ${host} requires a token: the command has it in its environment.`)
  }
  return environmentOf({ baseUrl, keys, api: user, controlToken })
}

/** A generated control token of 128 bits, if other machines can reach the control interface and no token is given. */
export function generatedToken({ controlToken, host }: StartOptions): string | undefined {
  if (controlToken !== undefined || isLoopback(host)) return undefined
  // The token is the only real secret of the emulator: values from the seed are predictable.
  return randomBytes(16).toString('base64url')
}

/** The file of the default sandbox. */
export function stateFile({ data }: StartOptions): string {
  return join(resolve(data), 'default.json')
}

// Checked before the start, which creates the file. Options about new sandboxes have no effect on an existing one, which would
// look like a defect.
function oldStateWarning(options: StartOptions, given: ReadonlySet<string>): string | undefined {
  const idle = ['fixtures', 'seed', 'clock'].filter((name) => given.has(name)).map((name) => flagOf(name))
  const file = stateFile(options)
  if (options.ephemeral || idle.length === 0 || !existsSync(file)) return undefined
  return `${file} already contains a sandbox: ${idle.join(', ')} will take effect when it is reset ("workspace-emulator reset").`
}

/** The logger of a run; it writes to `err`. */
export function loggerOf({ quiet, logLevel, logFormat, noColor }: StartOptions, terminal: Terminal): Logger {
  return loggerTo({
    level: quiet && logLevel === 'info' ? 'warn' : logLevel,
    format: logFormat,
    colours: terminal.colours && !noColor,
    write: terminal.err,
  })
}

/** Closes an emulator and warns of the fault rules that never fired. */
export async function closeWithReport(emulator: RunningEmulator, logger: Logger): Promise<void> {
  const sandboxes = emulator.sandboxes.list().map(({ sandbox }) => sandbox)
  await emulator.close()
  for (const line of unfiredRules(sandboxes)) logger.warn(line)
}

/** Maximum number of sandboxes that are listed one by one: a process may have thousands. */
const MAX_SANDBOXES = 20

/** Maximum number of rules that one line names. */
const MAX_NAMED = 10

/** A line for each sandbox with fault rules that never fired: a fault that never fired proves nothing. */
export function unfiredRules(sandboxes: readonly Sandbox[]): string[] {
  const lines = sandboxes.flatMap((sandbox) => {
    const time = { now: sandbox.clock.now, wall: sandbox.options.host() }
    const rules = sandbox.faults.rules.flatMap((rule) => {
      const { matched, fired } = standingOf(sandbox.store, rule, time)
      return fired > 0 ? [] : [`${rule.id} (matched ${counted(matched, 'time')})`]
    })
    if (rules.length === 0) return []
    const more = rules.length > MAX_NAMED ? `, and ${rules.length - MAX_NAMED} more` : ''
    const named = rules.slice(0, MAX_NAMED).join(', ')
    return [`Fault rules of ${sandbox.name} that never fired: ${named}${more}`]
  })
  const more = lines.length - MAX_SANDBOXES
  return more > 0 ? [...lines.slice(0, MAX_SANDBOXES), `and others in ${more} more sandboxes`] : lines
}

/** The message about a failed start: the problem, its place (with line numbers for a file), and the fix. */
export async function startFailure(
  error: unknown,
  { settings, scenario }: Partial<Pick<StartOptions, 'settings' | 'scenario'>> = {},
): Promise<string> {
  if (error instanceof FixturesError) return fixturesFailure(error.file, error.issues)
  if (error instanceof Refusal && scenario !== undefined && isOfScenario(error))
    return scenarioFailure(error, scenario)
  if (error instanceof Refusal && settings !== undefined && error.options.issues !== undefined)
    return settingsFailure(settings, error.options.issues)
  if (!(error instanceof Error) || ['TypeError', 'ReferenceError', 'RangeError'].includes(error.name)) {
    return `The emulator failed to start. This is a defect of the emulator: ${oneLine(error)}`
  }
  return 'syscall' in error || isStorageFailure(error)
    ? `${error.message.replace(/\.$/, '')}. Run "workspace-emulator doctor" to find the problem.`
    : error.message
}

// Pointers about settings begin with a key that has dots or is not a field of scenarios.
function isOfScenario({ options: { issues } }: Refusal): boolean {
  const fields = ['fixtures', 'clock', 'settings', 'pace', 'outcomes', 'faults', 'stubs', 'timeline', 'on']
  return issues === undefined || issues.every(({ pointer }) => fields.includes(pointer.split('/')[1] ?? ''))
}

function scenarioFailure({ message, options: { issues = [] } }: Refusal, name: string): string {
  const fix = 'Run "workspace-emulator validate" to see the problems of scenarios, with file and line.'
  if (issues.length === 0) return `${message} ${fix}`
  const lines = issues.map(({ pointer, detail }) => `  ${pointer}: ${detail}`)
  return [`The scenario "${name}" cannot be started:`, ...lines, fix].join('\n')
}
