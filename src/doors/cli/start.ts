import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { type Emulator, startEmulator } from '../../emulator.ts'
import { activeOn } from '../../kernel/scenario/force.ts'
import { formatInstant } from '../../kernel/time/instant.ts'
import { CONTRACT_VERSION, packageVersion } from '../version.ts'
import { banner, type Facts } from './banner.ts'
import { plainKeys, readyKeys } from './demo-keys.ts'
import type { Invocation, Terminal } from './invocation.ts'
import { isDirectory } from './json-files.ts'
import { launchOptions, madeToken, type StartOptions } from './launch.ts'
import { type FlushableLogger, lazyLogger } from './lazy-logger.ts'
import { environment, flagOf, isNpmScript, type OptionName } from './options.ts'
import { startFailure } from './start-failure.ts'
import { untilStopped } from './stop.ts'
import { unfiredRules } from './unfired.ts'
import { CommandFailed, OK } from './usage.ts'

/** `start`: runs the emulator until a signal ends it. */
export async function start({ options, given, terminal }: Invocation<keyof StartOptions>): Promise<number> {
  const logger = loggerOf(options, terminal)
  const made = madeToken(options)
  const launch = await launchOptions(
    made === undefined ? options : { ...options, controlToken: made },
    given,
    logger,
  )
  const isOld = !options.ephemeral && existsSync(stateFile(options))
  const starting = startEmulator(launch)
  const stopped = untilStopped({
    logger,
    // A signal that comes before the start is done has to wait for it; when it fails, nothing is left to close.
    close: async () => end(await starting.catch(() => undefined), logger),
    exit: (code) => process.exit(code),
    followsParent: isNpmScript(environment()),
  })
  const emulator = await starting.catch(async (error: unknown) => {
    await logger.flush()
    throw new CommandFailed(await startFailure(error, options))
  })
  if (made !== undefined) terminal.err(tokenWarning(options.host, made))
  if (isOld) warnOfOldWorld(options, given, logger)
  if (given.has('scenarios') && !isDirectory(options.scenarios))
    logger.warn(`${options.scenarios} is not there: until it is, there are no scenarios.`)
  await announce(emulator, options, made, { terminal, logger })
  await stopped
  await logger.flush()
  return OK
}

async function end(emulator: Emulator | undefined, logger: FlushableLogger): Promise<void> {
  if (emulator === undefined) return
  const sandboxes = emulator.sandboxes.list().map(({ sandbox }) => sandbox)
  await emulator.close()
  for (const line of unfiredRules(sandboxes)) logger.warn(line)
}

function loggerOf(
  { quiet, logLevel, logFormat, noColor }: StartOptions,
  terminal: Terminal,
): FlushableLogger {
  return lazyLogger({
    level: quiet && logLevel === 'info' ? 'warn' : logLevel,
    format: logFormat,
    colours: terminal.colours && !noColor,
    write: (line) => terminal.err(line.trimEnd()),
  })
}

function stateFile({ data }: StartOptions): string {
  return join(resolve(data), 'default.json')
}

function tokenWarning(host: string, token: string): string {
  return [
    `Warning: on ${host}, other machines can reach this emulator. Its control interface demands a token, made for this run: ${token}`,
    'Give one of your own with --control-token or WORKSPACE_EMULATOR_CONTROL_TOKEN.',
  ].join('\n')
}

/** What the user has said about new worlds has no effect on one that is there; not to say so would look like a defect. */
function warnOfOldWorld(
  options: StartOptions,
  given: ReadonlySet<OptionName>,
  logger: FlushableLogger,
): void {
  const idle = (['fixtures', 'seed', 'clock'] as const).filter((name) => given.has(name)).map(flagOf)
  if (idle.length === 0) return
  logger.warn(
    `${stateFile(options)} holds a world already: ${idle.join(', ')} will count when it starts again ("workspace-emulator reset").`,
  )
}

async function announce(
  { baseUrl, controlUrl, port, sandbox }: Emulator,
  options: StartOptions,
  madeToken: string | undefined,
  { terminal, logger }: { readonly terminal: Terminal; readonly logger: FlushableLogger },
): Promise<void> {
  if (options.quiet && !options.json) return
  const keys = await plainKeys(options.fixtures, sandbox.store)
  if (options.json) {
    const ready = { base_url: baseUrl, control_url: controlUrl, port, keys: readyKeys(keys) }
    terminal.out(JSON.stringify({ ...ready, control_token: madeToken }))
    return
  }
  const facts: Facts = {
    version: packageVersion(),
    contract_version: CONTRACT_VERSION,
    base_url: baseUrl,
    control_url: controlUrl,
    state_file: options.ephemeral ? null : stateFile(options),
    now: formatInstant(sandbox.clock.due()),
    rate: sandbox.clock.rate,
    seed: sandbox.seed,
    scenario: activeOn(sandbox)?.name ?? null,
    assumptions: sandbox.ledger.items.size,
  }
  if (options.logFormat === 'json') logger.info('ready', { ...facts })
  else terminal.out(banner(facts, keys))
}
