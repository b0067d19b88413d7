import { randomBytes } from 'node:crypto'
import { join, resolve } from 'node:path'
import { type Emulator, type EmulatorOptions, startEmulator } from '../../emulator.ts'
import { formatInstant } from '../../kernel/instant.ts'
import type { JsonObject } from '../../kernel/json.ts'
import { banner, type Facts } from './banner.ts'
import type { Invocation, START_OPTIONS, Terminal } from './commands.ts'
import { plainKeys, readyKeys } from './demo-keys.ts'
import { issueLine, readJsonFile } from './json-files.ts'
import { type Logger, lazyLogger } from './logger.ts'
import type { OptionValues } from './options.ts'
import { startFailure } from './start-failure.ts'
import { untilStopped } from './stop.ts'
import { CommandFailed, OK } from './usage.ts'
import { CONTRACT_VERSION, packageVersion } from './version.ts'

type StartOptions = OptionValues<(typeof START_OPTIONS)[number]>

/** `start`: runs the emulator until a signal ends it. */
export async function start({ options, terminal }: Invocation<keyof StartOptions>): Promise<number> {
  const logger = lazyLogger({
    level: options.quiet && options.logLevel === 'info' ? 'warn' : options.logLevel,
    format: options.logFormat,
    colours: terminal.colours && !options.noColor,
    write: (line) => terminal.err(line.trimEnd()),
  })
  const made = { controlToken: madeToken(options) }
  const launch = await launchOptions(
    { ...options, controlToken: options.controlToken ?? made.controlToken },
    logger,
  )
  const starting = startEmulator(launch)
  const stopped = untilStopped({
    logger,
    // A signal that comes before the start is done has to wait for it; when it fails, nothing is left to close.
    close: async () => (await starting.catch(() => undefined))?.close(),
    exit: (code) => process.exit(code),
  })
  const emulator = await starting.catch(async (error: unknown) => {
    throw new CommandFailed(await startFailure(error, options.settings))
  })
  if (made.controlToken !== undefined) warnOfToken(options.host, made.controlToken, terminal)
  await announce(emulator, options, made, { terminal, logger })
  await stopped
  await logger.flush()
  return OK
}

async function launchOptions(options: StartOptions, logger: Logger) {
  const {
    settings,
    clock,
    controlToken,
    json,
    quiet,
    noColor,
    logLevel,
    logFormat,
    allowHost,
    corsOrigin,
    ...same
  } = options
  return {
    ...same,
    ...(settings === undefined ? {} : { settings: await readSettings(settings) }),
    ...(clock === undefined ? {} : { clock }),
    ...(controlToken === undefined ? {} : { controlToken }),
    allowHosts: allowHost,
    corsOrigins: corsOrigin,
    logger,
    onSurprise: (error: unknown) => logger.error('The emulator has a defect.', { error }),
  } satisfies EmulatorOptions & Record<string, unknown>
}

async function readSettings(file: string): Promise<JsonObject> {
  const read = await readJsonFile(file)
  if ('document' in read) return read.document
  throw new CommandFailed(read.issues.map((issue) => issueLine(file, issue)).join('\n'))
}

/** A token for the control interface, where other machines can reach it and none is given. */
function madeToken({ controlToken, host }: StartOptions): string | undefined {
  const isLoopback = host === 'localhost' || host === '::1' || host.startsWith('127.')
  if (controlToken !== undefined || isLoopback) return undefined
  // The one true secret of the emulator: what comes from the seed, anybody can compute.
  return randomBytes(16).toString('base64url')
}

function warnOfToken(host: string, token: string, terminal: Terminal): void {
  terminal.err(
    `Warning: on ${host}, other machines can reach this emulator. Its control interface demands a token, made for this run: ${token}\n` +
      'Give one of your own with --control-token or WORKSPACE_EMULATOR_CONTROL_TOKEN.',
  )
}

async function announce(
  { baseUrl, controlUrl, port, sandbox }: Emulator,
  options: StartOptions,
  made: { readonly controlToken: string | undefined },
  { terminal, logger }: { readonly terminal: Terminal; readonly logger: Logger },
): Promise<void> {
  if (options.quiet && !options.json) return
  const keys = await plainKeys(options.fixtures, sandbox.store)
  if (options.json) {
    const ready = { base_url: baseUrl, control_url: controlUrl, port, keys: readyKeys(keys) }
    terminal.out(JSON.stringify({ ...ready, control_token: made.controlToken }))
    return
  }
  const facts: Facts = {
    version: packageVersion(),
    contract_version: CONTRACT_VERSION,
    base_url: baseUrl,
    control_url: controlUrl,
    state_file: options.ephemeral ? null : join(resolve(options.data), 'default.json'),
    now: formatInstant(sandbox.clock.now),
    rate: sandbox.clock.rate,
    seed: sandbox.seed,
    assumptions: sandbox.ledger.items.size,
  }
  if (options.logFormat === 'json') logger.info('ready', { ...facts })
  else terminal.out(banner(facts, keys))
}
