import { appendFileSync, existsSync } from 'node:fs'
import { callControlOver } from '../client/ask.ts'
import { findingCounts, findingsFrom } from '../core/conduct/finding-lines.ts'
import type { Sandbox } from '../core/sandboxes/sandbox.ts'
import { elapsedTime } from '../core/time/clock.ts'
import { later } from '../core/time/realtime.ts'
import type { Logger } from '../emulator/options.ts'
import { commandAfterDashes, FAILED, type Invocation, OK } from '../terminal/command.ts'
import { ConductTally, styledFinding } from '../terminal/conduct-commands.ts'
import { Child, type Ended, GRACE } from '../terminal/exec-child.ts'
import {
  closeWithReport,
  generatedToken,
  launch,
  loggerOf,
  type StartOptions,
  variablesOf,
} from '../terminal/launch.ts'
import { isNpmScript } from '../terminal/options.ts'
import { rendered } from '../terminal/print.ts'
import { printRequests } from '../terminal/request-printer.ts'
import { EXIT_CODES, onSignals, SAME_SIGNAL, type Signal } from '../terminal/signals.ts'
import { Tally } from '../terminal/tally.ts'
import { requireWritable } from '../terminal/text-file.ts'
import { addToFile, coverageSentence, readCoverage } from './coverage-commands.ts'
import { recordFailures, recordingLines } from './exec-recordings.ts'
import { refusalsOf } from './exec-refusals.ts'
import { markdownOf, type Summary, summaryOf } from './exec-summary.ts'

type ExecInvocation = Invocation<keyof StartOptions | 'coverage' | 'conduct' | 'recordFailures'>

/** `exec`: runs a command with its own emulator, and resolves with the exit code of the command. */
export async function exec(invocation: ExecInvocation): Promise<number> {
  const { given, terminal, env } = invocation
  const command = commandAfterDashes('exec', invocation)
  const { coverage, conduct, recordFailures: folder, ...start } = invocation.options
  const options = withOwnDefaults({ ...invocation, options: start })
  if (folder !== undefined) requireWritable(folder, 'recordFailures')
  // A file that cannot be used must not be found after a long run.
  if (coverage !== undefined && existsSync(coverage)) await readCoverage(coverage)
  const logger = loggerOf(options, terminal)
  const child = new Child()
  const interruption = interruptionOf(child, logger)
  const stopListening = onSignals(interruption.onSignal, isNpmScript(env))
  try {
    const countCoverage = options.countCoverage || coverage !== undefined
    const emulator = await launch({ ...options, countCoverage }, given, logger)
    const variables = await variablesOf(emulator, options, logger)
    const [tally, conducts] = [new Tally(), new ConductTally()]
    const watch = (sandbox: Sandbox): void => {
      tally.watch(sandbox)
      conducts.watch(sandbox)
    }
    for (const { sandbox } of emulator.sandboxes.list()) watch(sandbox)
    emulator.sandboxes.onMade(watch)
    printRequests(emulator, invocation, false)
    const began = elapsedTime()
    const ended = interruption.ended() ?? (await child.run(command, { ...env, ...variables }))
    const duration_ms = Math.round(elapsedTime() - began)
    const { failure, code, signal } = ended
    if (failure !== undefined) terminal.err(failure)
    const covered =
      coverage === undefined ? undefined : await callControlOver(emulator.control)('GET /coverage')
    const isWorkflow = (env.GITHUB_ACTIONS ?? '') !== ''
    const isReported = !options.json && code !== OK && failure === undefined && signal === null
    const refusals = isReported ? await refusalsOf(emulator, isWorkflow, env, tally) : undefined
    const recorded =
      folder === undefined || code === OK ? undefined : await recordFailures(emulator, folder, logger)
    await closeWithReport(emulator, logger)
    if (refusals !== undefined) terminal.err(refusals)
    if (recorded !== undefined && !options.json)
      for (const line of recordingLines(recorded, isWorkflow)) terminal.err(line)
    const all = covered && (await addToFile(coverage ?? '', covered))
    const run = {
      ...{ command, exit_code: code, signal, duration_ms, base_url: emulator.baseUrl },
      ...(recorded && { recordings: recorded.files, scripted: recorded.scripted }),
    }
    await report(
      summaryOf(run, tally, conducts, emulator.sandbox.service.assumptions, all),
      invocation,
      logger,
    )
    if (all !== undefined && !options.json)
      terminal.err(`${coverageSentence(all)} See: workspace-emulator coverage ${coverage}`)
    if (conduct === undefined) return code
    const failures = findingsFrom(conducts.findings, conduct)
    const screen = { colours: terminal.colours && !options.noColor }
    const lines = failures.flatMap((finding) => styledFinding(finding, `@${finding.sandbox} `))
    lines.unshift(`Conduct of the clients: ${findingCounts(failures)}.`)
    if (!options.json) for (const line of lines) terminal.err(rendered(line, screen))
    return failures.length > 0 && code === OK ? FAILED : code
  } finally {
    stopListening()
  }
}

/** The options of `start`, with defaults that do not disturb another emulator and leave nothing on disk. */
function withOwnDefaults({ options, given }: Invocation<keyof StartOptions>): StartOptions {
  const { port, ephemeral, logLevel, controlToken, ...start } = options
  return {
    ...start,
    logLevel: given.has('logLevel') ? logLevel : 'warn',
    port: given.has('port') ? port : 0,
    ephemeral: ephemeral || !given.has('data'),
    controlToken: controlToken ?? generatedToken(options),
  }
}

/** The first signal goes to the command, which decides when it ends; after a second one it has one second. */
function interruptionOf(child: Child, logger: Logger) {
  let first: { readonly signal: Signal; readonly at: number } | undefined
  return {
    onSignal: (signal: Signal): void => {
      if (first === undefined) {
        logger.info(
          `${signal}: waiting for the command to end; send it again to kill the command after a second`,
        )
        child.interrupt(signal)
        // A signal that arrived during these lines is delivered next, and counts as the same signal.
        first = { signal, at: elapsedTime() }
      } else if (elapsedTime() - first.at >= SAME_SIGNAL) {
        // The end of this process kills the command.
        later(GRACE, () => process.exit(EXIT_CODES[signal]))
      }
    },
    /** The result of a command when a signal arrived before its start; undefined without a signal. */
    ended: (): Ended | undefined => first && { code: EXIT_CODES[first.signal], signal: first.signal },
  }
}

/** Writes the summary of the run; never on stdout, which belongs to the command. */
async function report(
  summary: Summary,
  { options, terminal, env }: ExecInvocation,
  logger: Logger,
): Promise<void> {
  const file = env.GITHUB_STEP_SUMMARY
  try {
    if (file) appendFileSync(file, markdownOf(summary))
  } catch (error) {
    logger.warn(`The summary could not be added to ${file}: ${(error as Error).message}`)
  }
  // The last line, so that it is easy to find on stderr.
  if (options.json) terminal.err(JSON.stringify(summary))
}
