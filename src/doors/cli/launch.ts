import { randomBytes } from 'node:crypto'
import type { EmulatorOptions } from '../../emulator.ts'
import type { START_OPTIONS } from './invocation.ts'
import { readJsonObject } from './json-files.ts'
import type { Logger } from './logger.ts'
import type { OptionName, OptionValues } from './options.ts'

export type StartOptions = OptionValues<(typeof START_OPTIONS)[number]>

/**
 * The options of `start` as the emulator takes them. The rate and the skipping on polls of a saved world stay as they are
 * unless the user says otherwise, so that their defaults are left out.
 */
export async function launchOptions(
  options: StartOptions,
  given: ReadonlySet<OptionName>,
  logger: Logger,
): Promise<EmulatorOptions> {
  const { port, host, data, ephemeral, fixtures, seed, auth, limits, strict, durability } = options
  const { settings, clock, controlToken, rate, skipOnPoll, allowHost, allowWebhook, corsOrigin } = options
  const { revealFaults, scenarios, scenario } = options
  return {
    ...{ port, host, data, ephemeral, fixtures, seed, auth, limits, strict, durability, logger },
    ...{ revealFaults, scenarios },
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
  const isLoopback = host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host)
  if (controlToken !== undefined || isLoopback) return undefined
  // The one true secret of the emulator: what comes from the seed, anybody can compute.
  return randomBytes(16).toString('base64url')
}
