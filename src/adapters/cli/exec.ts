import { appendFileSync } from 'node:fs'
import { elapsedTime } from '../../core/time/clock.ts'
import type { RunningEmulator } from '../../emulator.ts'
import type { Logger } from '../../options.ts'
import { plainKeys, readyKeys } from '../fixtures.ts'
import type { Invocation } from './command.ts'
import { Child, type Ended } from './exec-child.ts'
import { markdownOf, type Summary, summaryOf, Tally } from './exec-summary.ts'
import { closeWithReport, generatedToken, launch, loggerOf, type StartOptions } from './launch.ts'
import type { FlushableLogger } from './logger.ts'
import { type Environment, isNpmScript, stepSummaryFile, UsageError, variableOf } from './options.ts'
import { printRequests } from './request-printer.ts'
import { EXIT_CODES, onSignals, SAME_SIGNAL, type Signal } from './signals.ts'

type ExecInvocation = Invocation<keyof StartOptions>

/** `exec`: runs a command with its own emulator, and resolves with the exit code of the command. */
export async function exec(invocation: ExecInvocation): Promise<number> {
  const { given, terminal, env } = invocation
  const command = commandOf(invocation)
  const options = withOwnDefaults(invocation)
  const logger = loggerOf(options, terminal)
  const child = new Child()
  const interruption = new Interruption(child, logger)
  const stopListening = onSignals((signal) => interruption.onSignal(signal), isNpmScript(env))
  try {
    const emulator = await launch(options, given, logger)
    const variables = await variablesOf(emulator, options, logger)
    const tally = new Tally()
    for (const { sandbox } of emulator.sandboxes.list()) tally.watch(sandbox)
    emulator.sandboxes.onMade((sandbox) => tally.watch(sandbox))
    const flush = printRequests(emulator, invocation, false)
    const began = elapsedTime()
    const ended = interruption.ended ?? (await child.run(command, { ...env, ...variables }))
    const run = { command, ended, duration: Math.round(elapsedTime() - began), baseUrl: emulator.baseUrl }
    if (ended.failure !== undefined) terminal.err(ended.failure)
    await closeWithReport(emulator, logger)
    flush()
    await child.sweep()
    await report(summaryOf(run, tally, emulator.sandbox.assumptions), invocation, logger)
    return ended.code
  } finally {
    stopListening()
    await logger.flush()
  }
}

function commandOf({ args, afterDashes }: ExecInvocation): readonly string[] {
  if (args.length === afterDashes.length) return args
  throw new UsageError([
    `Put -- in front of the command: workspace-emulator exec [flags] -- ${args.join(' ')}`,
    'Run "workspace-emulator exec --help" for its arguments and flags.',
  ])
}

/** The options of `start`, with defaults that do not disturb another emulator and leave nothing on disk. */
function withOwnDefaults({ options, given }: ExecInvocation): StartOptions {
  const { port, ephemeral, logLevel, controlToken } = options
  return {
    ...options,
    port: given.has('port') ? port : 0,
    ephemeral: ephemeral || !given.has('data'),
    logLevel: given.has('logLevel') ? logLevel : 'warn',
    controlToken: controlToken ?? generatedToken(options),
  }
}

/** The environment variables for the command. A variable stays unchanged when the sandbox has no key for it. */
async function variablesOf(
  { baseUrl, sandbox }: RunningEmulator,
  { fixtures, controlToken, host }: StartOptions,
  logger: Logger,
): Promise<Environment> {
  const { user, member, service } = readyKeys(await plainKeys(fixtures, sandbox.store))
  if (user === null) {
    logger.warn(`${fixtures} contains no key of a user: WORKSPACE_API_KEY stays unchanged.`)
  }
  if (controlToken !== undefined) {
    logger.info(`The control interface on ${host} requires a token: the command has it in its environment.`)
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

/** The first signal goes to the command, which decides when it ends; a second one ends everything at once. */
class Interruption {
  readonly #child: Child
  readonly #logger: Logger
  #first: { readonly signal: Signal; readonly at: number } | undefined

  constructor(child: Child, logger: Logger) {
    this.#child = child
    this.#logger = logger
  }

  onSignal(signal: Signal): void {
    if (this.#first === undefined) {
      this.#logger.info(`${signal}: waiting for the command to end; send it again to end the command at once`)
      this.#child.interrupt(signal)
      // A signal that arrived during these lines is delivered next, and counts as the same signal.
      this.#first = { signal, at: elapsedTime() }
    } else if (elapsedTime() - this.#first.at >= SAME_SIGNAL) {
      this.#child.kill()
      process.exit(EXIT_CODES[signal])
    }
  }

  /** The result of a command when a signal arrived before its start; undefined without a signal. */
  get ended(): Ended | undefined {
    if (this.#first === undefined) return undefined
    const { signal } = this.#first
    return { code: EXIT_CODES[signal], signal }
  }
}

/** Writes the summary of the run; never on stdout, which belongs to the command. */
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
  // The last line, so that it is easy to find on stderr.
  await logger.flush()
  if (options.json) terminal.err(JSON.stringify(summary))
}
