import { appendFileSync } from 'node:fs'
import { openEmulator, type RunningEmulator } from '../../emulator.ts'
import { hostTime } from '../../kernel/time/clock.ts'
import { plainKeys, readyKeys } from '../plain-keys.ts'
import { Child, type Ended } from './exec-child.ts'
import { markdownOf, type Summary, summaryOf } from './exec-summary.ts'
import { Tally } from './exec-tally.ts'
import type { Invocation } from './invocation.ts'
import {
  closeAndTell,
  launchOptions,
  loggerOf,
  madeToken,
  oldWorldWarning,
  type StartOptions,
} from './launch.ts'
import type { FlushableLogger } from './lazy-logger.ts'
import type { Logger } from './logger.ts'
import { type Environment, isNpmScript, stepSummaryFile, variableOf } from './options.ts'
import { EXIT_CODES, onSignals, SAME_SIGNAL, type Signal } from './signals.ts'
import { startFailure } from './start-failure.ts'
import { CommandFailed, UsageError } from './usage.ts'

type ExecInvocation = Invocation<keyof StartOptions>

/** `exec`: runs a command beside an emulator of its own, and resolves with its exit code. */
export async function exec(invocation: ExecInvocation): Promise<number> {
  const { given, terminal, env } = invocation
  const command = commandOf(invocation)
  const options = withOwnDefaults(invocation)
  const logger = loggerOf(options, terminal)
  const child = new Child()
  const interruption = new Interruption(child, logger)
  const stopHearing = onSignals((signal) => interruption.hear(signal), isNpmScript(env))
  try {
    const oldWorld = oldWorldWarning(options, given)
    const emulator = await openEmulator(await launchOptions(options, given, logger)).catch(
      async (error: unknown) => {
        throw new CommandFailed(await startFailure(error, options))
      },
    )
    if (oldWorld !== undefined) logger.warn(oldWorld)
    const variables = await variablesOf(emulator, options, logger)
    const tally = new Tally()
    for (const { sandbox } of emulator.sandboxes.list()) tally.watch(sandbox)
    emulator.sandboxes.onMade((sandbox) => tally.watch(sandbox))
    const began = hostTime()
    const ended = interruption.ended ?? (await child.run(command, { ...env, ...variables }))
    const run = { command, ended, duration: hostTime() - began, baseUrl: emulator.baseUrl }
    if (ended.failure !== undefined) terminal.err(ended.failure)
    await closeAndTell(emulator, logger)
    await child.sweep()
    await report(summaryOf(run, tally, emulator.sandbox.ledger), invocation, logger)
    return ended.code
  } finally {
    stopHearing()
    await logger.flush()
  }
}

function commandOf({ args, behindDashes }: ExecInvocation): readonly string[] {
  if (args.length === behindDashes.length) return args
  throw new UsageError([
    `Put -- in front of the command: workspace-emulator exec [flags] -- ${args.join(' ')}`,
    'Run "workspace-emulator exec --help" for what it takes.',
  ])
}

/** The options of `start`, but nothing is in the way of another emulator, and nothing is left of this one. */
function withOwnDefaults({ options, given }: ExecInvocation): StartOptions {
  const { port, ephemeral, logLevel, controlToken } = options
  return {
    ...options,
    port: given.has('port') ? port : 0,
    ephemeral: ephemeral || !given.has('data'),
    logLevel: given.has('logLevel') ? logLevel : 'warn',
    controlToken: controlToken ?? madeToken(options),
  }
}

/** What the command finds in its environment; a key that the world does not have leaves the variable as it is. */
async function variablesOf(
  { baseUrl, sandbox }: RunningEmulator,
  { fixtures, controlToken, host }: StartOptions,
  logger: Logger,
): Promise<Environment> {
  const { user, member, service } = readyKeys(await plainKeys(fixtures, sandbox.store))
  if (user === null) {
    logger.warn(`${fixtures} shows no key of a user: WORKSPACE_API_KEY stays as it is.`)
  }
  if (controlToken !== undefined) {
    logger.info(`The control interface on ${host} demands a token: the command has it in its environment.`)
  }
  const variables = {
    WORKSPACE_BASE_URL: baseUrl,
    WORKSPACE_API_KEY: user,
    WORKSPACE_MEMBER_KEY: member,
    WORKSPACE_SERVICE_KEY: service,
    [variableOf('url')]: baseUrl.replace(/\/v1$/, ''),
    [variableOf('controlToken')]: controlToken ?? null,
  }
  return Object.fromEntries(
    Object.entries(variables).flatMap(([name, value]) => (value === null ? [] : [[name, value]])),
  )
}

/** What signals do: the first one is the command's, which decides when it ends; another one ends everything at once. */
class Interruption {
  readonly #child: Child
  readonly #logger: Logger
  #first: { readonly signal: Signal; readonly at: number } | undefined

  constructor(child: Child, logger: Logger) {
    this.#child = child
    this.#logger = logger
  }

  hear(signal: Signal): void {
    if (this.#first === undefined) {
      this.#logger.info(`${signal}: waiting for the command to end; once more to end it at once`)
      this.#child.interrupt(signal)
      // What has come meanwhile is heard next, and came at the same time.
      this.#first = { signal, at: hostTime() }
    } else if (hostTime() - this.#first.at >= SAME_SIGNAL) {
      this.#child.kill()
      process.exit(EXIT_CODES[signal])
    }
  }

  /** How a command has ended that a signal came before; undefined while none has come. */
  get ended(): Ended | undefined {
    if (this.#first === undefined) return undefined
    const { signal } = this.#first
    return { code: EXIT_CODES[signal], signal }
  }
}

/** Tells what the run has come to, where somebody reads it: never on stdout, which is the command's. */
async function report(
  summary: Summary,
  { options, terminal, env }: ExecInvocation,
  logger: FlushableLogger,
): Promise<void> {
  const file = stepSummaryFile(env)
  try {
    if (file !== undefined) appendFileSync(file, markdownOf(summary))
  } catch (error) {
    logger.warn(`The summary could not be added to ${file}: ${(error as Error).message}`)
  }
  // The line is the last one, so that it is found among what else there is on stderr.
  await logger.flush()
  if (options.json) terminal.err(JSON.stringify(summary))
}
