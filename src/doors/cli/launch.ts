import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { HouseOptions, RunningEmulator } from '../../emulator.ts'
import { isLoopback } from '../loopback.ts'
import type { START_OPTIONS, Terminal } from './invocation.ts'
import { isDirectory, readJsonObject } from './json-files.ts'
import { type FlushableLogger, lazyLogger } from './lazy-logger.ts'
import type { Logger } from './logger.ts'
import { flagOf, type OptionName, type OptionValues } from './options.ts'
import { unfiredRules } from './unfired.ts'

export type StartOptions = OptionValues<(typeof START_OPTIONS)[number]>

/**
 * The options of `start` as the emulator takes them. The rate and the skipping on polls of a saved world stay as they are
 * unless the user says otherwise, so that their defaults are left out.
 */
export async function launchOptions(
  options: StartOptions,
  given: ReadonlySet<OptionName>,
  logger: Logger,
): Promise<HouseOptions> {
  const { port, host, data, ephemeral, fixtures, seed, auth, limits, strict, durability } = options
  const { settings, clock, controlToken, rate, skipOnPoll, allowHost, allowWebhook, corsOrigin } = options
  const { revealFaults, scenarios, scenario } = options
  if (given.has('scenarios') && !isDirectory(scenarios))
    logger.warn(`${scenarios} is not there: until it is, there are no scenarios.`)
  return {
    ...{ port, host, data, ephemeral, fixtures, seed, auth, limits, strict, durability, logger },
    revealFaults,
    ...(given.has('scenarios') ? { scenarios } : {}),
    ...(scenario === undefined ? {} : { scenario }),
    ...(given.has('rate') ? { rate } : {}),
    ...(given.has('skipOnPoll') ? { skipOnPoll } : {}),
    ...(settings === undefined ? {} : { settings: await readJsonObject(settings) }),
    ...(clock === undefined ? {} : { clock }),
    ...(controlToken === undefined ? {} : { controlToken }),
    allowHosts: allowHost,
    allowWebhooks: allowWebhook,
    corsOrigins: corsOrigin,
  }
}

/** A token for the control interface, where other machines can reach it and none is given. */
export function madeToken({ controlToken, host }: StartOptions): string | undefined {
  if (controlToken !== undefined || isLoopback(host)) return undefined
  // The one true secret of the emulator: what comes from the seed, anybody can compute.
  return randomBytes(16).toString('base64url')
}

/** Where the default sandbox is kept. */
export function stateFile({ data }: StartOptions): string {
  return join(resolve(data), 'default.json')
}

/**
 * What to say when a world is there already, to be asked before the start: what the user says about new worlds has no effect
 * on it, and not to say so would look like a defect.
 */
export function oldWorldWarning(options: StartOptions, given: ReadonlySet<OptionName>): string | undefined {
  const idle = (['fixtures', 'seed', 'clock'] as const).filter((name) => given.has(name)).map(flagOf)
  const file = stateFile(options)
  if (options.ephemeral || idle.length === 0 || !existsSync(file)) return undefined
  return `${file} holds a world already: ${idle.join(', ')} will count when it starts again ("workspace-emulator reset").`
}

/** The log of a run, on `err`. */
export function loggerOf(
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

/** Closes an emulator, if there is one, and tells of the fault rules that have never fired. */
export async function closeAndTell(emulator: RunningEmulator | undefined, logger: Logger): Promise<void> {
  if (emulator === undefined) return
  const sandboxes = emulator.sandboxes.list().map(({ sandbox }) => sandbox)
  await emulator.close()
  for (const line of unfiredRules(sandboxes)) logger.warn(line)
}
