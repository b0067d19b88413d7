import { openEmulator, type RunningEmulator } from '../../emulator.ts'
import { activeOn } from '../../kernel/scenario/force.ts'
import { formatInstant } from '../../kernel/time/instant.ts'
import { plainKeys, readyKeys } from '../plain-keys.ts'
import { CONTRACT_VERSION, packageVersion } from '../version.ts'
import { banner, type Facts } from './banner.ts'
import type { Invocation, Terminal } from './invocation.ts'
import {
  closeAndTell,
  launchOptions,
  loggerOf,
  madeToken,
  oldWorldWarning,
  type StartOptions,
  stateFile,
} from './launch.ts'
import type { FlushableLogger } from './lazy-logger.ts'
import { environment, isNpmScript } from './options.ts'
import { startFailure } from './start-failure.ts'
import { untilStopped } from './stop.ts'
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
  const oldWorld = oldWorldWarning(options, given)
  const starting = openEmulator(launch)
  const stopped = untilStopped({
    logger,
    // A signal that comes before the start is done has to wait for it; when it fails, nothing is left to close.
    close: async () => closeAndTell(await starting.catch(() => undefined), logger),
    exit: (code) => process.exit(code),
    followsParent: isNpmScript(environment()),
  })
  const emulator = await starting.catch(async (error: unknown) => {
    await logger.flush()
    throw new CommandFailed(await startFailure(error, options))
  })
  if (made !== undefined) terminal.err(tokenWarning(options.host, made))
  if (oldWorld !== undefined) logger.warn(oldWorld)
  await announce(emulator, options, made, { terminal, logger })
  await stopped
  await logger.flush()
  return OK
}

function tokenWarning(host: string, token: string): string {
  return [
    `Warning: on ${host}, other machines can reach this emulator. Its control interface demands a token, made for this run: ${token}`,
    'Give one of your own with --control-token or WORKSPACE_EMULATOR_CONTROL_TOKEN.',
  ].join('\n')
}

async function announce(
  { baseUrl, controlUrl, port, sandbox }: RunningEmulator,
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
