import { existsSync } from 'node:fs'
import { callControlOver } from '../control-client/ask.ts'
import { findingCounts, findingsFrom } from '../core/conduct/finding-lines.ts'
import { harmless } from '../core/quoted.ts'
import type { Sandbox } from '../core/sandboxes/sandbox.ts'
import { elapsedTime } from '../core/time/clock.ts'
import { later } from '../core/time/realtime.ts'
import type { Logger } from '../emulator/options.ts'
import { commandAfterDashes, FAILED, type Invocation, OK } from '../terminal/command.ts'
import { styledFinding } from '../terminal/conduct-commands.ts'
import { Child, type Ended, GRACE } from '../terminal/exec-child.ts'
import { closeWithReport, generatedToken, launch, loggerOf, variablesOf } from '../terminal/launch.ts'
import type { Line } from '../terminal/line.ts'
import { type Environment, isNpmScript, variableOf } from '../terminal/options.ts'
import { rendered } from '../terminal/print.ts'
import { printRequests } from '../terminal/request-printer.ts'
import { EXIT_CODES, onSignals, SAME_SIGNAL, type Signal } from '../terminal/signals.ts'
import { Tally } from '../terminal/tally.ts'
import { requireWritable } from '../terminal/text-file.ts'
import { addToFile, coverageSentence, readCoverage } from './coverage-commands.ts'
import {
  addSummary,
  recordFailures,
  recordingLines,
  refusalLines,
  refusalsOf,
  summaryOf,
} from './exec-summary.ts'
import type { EXEC_OPTIONS } from './local-options.ts'

/** `exec`: runs a command with its own emulator, and resolves with the exit code of the command. */
export async function exec(invocation: Invocation<typeof EXEC_OPTIONS>): Promise<number> {
  const { given, terminal, env } = invocation
  const command = commandAfterDashes('exec', invocation)
  const { coverage, conduct, recordFailures: folder, keep, requireRequests, ...start } = invocation.options
  // The defaults disturb no other emulator, and leave nothing on disk.
  const ephemeral = start.ephemeral || !given.has('data')
  const options = { ...start, ephemeral, controlToken: start.controlToken ?? generatedToken(start) }
  if (folder !== undefined) requireWritable(folder, 'recordFailures')
  // A file that cannot be used must not be found after a long run.
  if (coverage !== undefined && existsSync(coverage)) await readCoverage(coverage)
  const logger = loggerOf(options, terminal)
  const print = (lines: readonly Line[]): void => {
    const screen = { colours: terminal.colours && !options.noColor }
    if (!options.json) for (const line of lines) terminal.err(rendered(line, screen))
  }
  const child = new Child()
  const interruption = interruptionOf(child, logger)
  const stopListening = onSignals(interruption.onSignal, isNpmScript(env))
  try {
    const countCoverage = options.countCoverage || coverage !== undefined
    const emulator = await launch({ ...options, countCoverage }, given, logger)
    const variables = await variablesOf(emulator, options, logger)
    const tally = new Tally()
    const watch = (sandbox: Sandbox): void => {
      tally.watch(sandbox)
      tally.judge(sandbox)
    }
    for (const { sandbox } of emulator.sandboxes.list()) watch(sandbox)
    emulator.sandboxes.onMade(watch)
    printRequests(emulator, invocation, false)
    const began = elapsedTime()
    // Fixtures of tests read whether their sandboxes can be opened after the run.
    const own = { ...env, ...variables, [variableOf('keep')]: String(keep) }
    const { failure, code, signal } = interruption.ended() ?? (await child.run(command, own))
    const duration_ms = Math.round(elapsedTime() - began)
    if (failure !== undefined) terminal.err(failure)
    const hasRun = failure === undefined && signal === null
    const isUnused = hasRun && tally.operations.length === 0
    if (isUnused) logger.warn(noRequestLine(env))
    const isWorkflow = (env.GITHUB_ACTIONS ?? '') !== ''
    const refusals = hasRun && code !== OK ? await refusalsOf(emulator) : undefined
    const recorded =
      folder === undefined || code === OK ? undefined : await recordFailures(emulator, folder, logger)
    const covered =
      coverage === undefined ? undefined : await callControlOver(emulator.control)('GET /coverage')
    print([
      ...(refusals ? refusalLines(refusals, tally, isWorkflow) : []).map(harmless),
      ...(recorded ? recordingLines(recorded, isWorkflow) : []),
    ])
    if (keep && hasRun && interruption.ended() === undefined) {
      terminal.err(
        `The command ended with ${code}. The emulator still runs, for a look: ${emulator.controlUrl}/ui/ Ctrl-C ends it.`,
      )
      await interruption.next()
    }
    await closeWithReport(emulator, logger)
    const all = covered && (await addToFile(coverage ?? '', covered))
    const { title: _, ...files } = recorded ?? {}
    const run = {
      ...{ command, exit_code: code, signal, duration_ms, base_url: emulator.baseUrl },
      ...(refusals && { refusals }),
      ...files,
    }
    const summary = summaryOf(run, tally, emulator.sandbox.service.assumptions, all)
    if (env.GITHUB_STEP_SUMMARY) addSummary(env.GITHUB_STEP_SUMMARY, summary, logger)
    // The last line, so that it is easy to find on stderr; stdout belongs to the command.
    if (options.json) terminal.err(JSON.stringify(summary))
    if (all !== undefined) print([`${coverageSentence(all)} See: workspace-emulator coverage ${coverage}`])
    const failures = conduct === undefined ? [] : findingsFrom(tally.findings, conduct)
    if (conduct !== undefined)
      print([
        `Conduct of the clients: ${findingCounts(failures)}.`,
        ...failures.flatMap((finding) => styledFinding(finding, `@${finding.sandbox} `)),
      ])
    const isWrong = failures.length > 0 || (isUnused && requireRequests)
    return isWrong && code === OK ? FAILED : code
  } finally {
    stopListening()
  }
}

function noRequestLine(env: Environment): string {
  const proxy = ['HTTP_PROXY', 'http_proxy', 'ALL_PROXY', 'all_proxy'].find((name) => env[name])
  const likely = `${proxy} is set: a client that ignores NO_PROXY sends its requests to that proxy.`
  return `No request came to the emulator. Does the command read WORKSPACE_BASE_URL?${proxy ? ` ${likely}` : ''}`
}

/** The first signal goes to the command, which decides when it ends; after a second one it has one second. */
function interruptionOf(child: Child, logger: Logger) {
  let first: { readonly signal: Signal; readonly at: number } | undefined
  let wake: (() => void) | undefined
  return {
    onSignal: (signal: Signal): void => {
      if (wake !== undefined) wake()
      else if (first === undefined) {
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
    /** Waits for a signal after the end of the command. */
    next: () => new Promise<void>((resolve) => (wake = resolve)),
  }
}
