import { Readable } from 'node:stream'
import { fitsGlob } from '../../core/log/glob.ts'
import { elapsedTime } from '../../core/time/clock.ts'
import { SECOND } from '../../core/time/instant.ts'
import { openEmulator } from '../../emulator/emulator.ts'
import { CommandFailed, commandAfterDashes, type Invocation } from '../../terminal/command.ts'
import { flagOf, isNpmScript, UsageError } from '../../terminal/options.ts'
import { EXIT_CODES, onSignals } from '../../terminal/signals.ts'
import { readText, writeText } from '../../terminal/text-file.ts'
import { repeatCommand, type Setup } from '../client-process.ts'
import { CERTIFY_OPTIONS } from '../options.ts'
import { type CaseResult, cardOf, caseLines, exitCodeOf, junitOf, totalLine } from './card.ts'
import { runCase } from './case.ts'
import { runCopies } from './copies.ts'
import { type Case, programmeOf, runProblem, selected } from './programme.ts'
import { certifyReceiver } from './receiver.ts'

/** Real time for one case, and for many copies under one limit. */
const [CASE_LIMIT, COPIES_LIMIT] = [10 * SECOND, 30 * SECOND]

const SKIPPED = { exit_code: null, sent: [], ms: 0, stderr: '' }

/** The options that count for one case. */
const { adapter, retries, timeout } = CERTIFY_OPTIONS
const REPEATED = { adapter, retries, timeout }

/** Cases that run at once. Each of them mostly waits. */
const AT_ONCE = 3

/** Runs the programme, or copies, of a client with an emulator of their own. Resolves with the exit code. */
export async function certify(invocation: Invocation<typeof CERTIFY_OPTIONS>): Promise<number> {
  const { options, given, env } = invocation
  if (options.receiver !== undefined) return certifyReceiver(invocation)
  if (invocation.args.length === 0)
    throw new UsageError([
      '<command...>: is missing. Give the client after --, as in certify -- node client.mjs, or a receiver of webhooks with --receiver.',
    ])
  const command = commandAfterDashes('certify', invocation)
  const hasCopies = options.clients > 1
  const [unused] = hasCopies ? (['run', 'skipFrom', 'junit'] as const).filter((name) => given.has(name)) : []
  if (unused !== undefined) {
    const problem = '--clients runs copies under one limit, not the cases'
    throw new UsageError([`${problem}: leave out ${flagOf(unused)}.`])
  }
  const emulator = await openEmulator({ port: 0, ephemeral: true })
  let summarize = (): void => {}
  const onStop: OnStop = (print) => {
    summarize = print
  }
  // Child processes end with this one.
  const stopListening = onSignals((signal) => {
    summarize()
    process.stdout.write('', () => process.exit(EXIT_CODES[signal]))
  }, isNpmScript(env))
  try {
    const limit = given.has('timeout') ? options.timeout : hasCopies ? COPIES_LIMIT : CASE_LIMIT
    const setup = { ...invocation, emulator, command, limit }
    return await (hasCopies ? runCopies(setup) : runProgramme(setup, onStop))
  } finally {
    await emulator.close()
    stopListening()
  }
}

/** Takes what is printed when a signal ends the run. */
type OnStop = (print: () => void) => void

/** Runs the programme against a client and prints its card. Resolves with the exit code. */
async function runProgramme(setup: Setup, onStop: OnStop): Promise<number> {
  const { options, terminal, command, emulator } = setup
  const { service, settings } = emulator.sandbox
  const programme = programmeOf(service, settings, options.adapter)
  const cases = selected(programme, options.run)
  const skipReason = skipsIn(options.skipFrom, programme)
  const width = cases.reduce((most, { name }) => Math.max(most, name.length), 0)
  const began = elapsedTime()
  const results: CaseResult[] = []
  const resultOf = async (each: Case): Promise<CaseResult> => {
    const reason = skipReason(each.name)
    const outcome =
      reason === undefined
        ? await runCase(setup, each)
        : { ...SKIPPED, result: 'skipped' as const, findings: [], reason }
    const faults = each.faults.map(({ name }) => name)
    const repeat = repeatCommand('certify', setup, REPEATED, each.name)
    return { case: each.name, class: each.class, faults, ...outcome, repeat }
  }
  const printTotal = (card: ReturnType<typeof cardOf>): void =>
    terminal.out(options.json ? JSON.stringify(card) : totalLine(card, elapsedTime() - began))
  onStop(() => {
    terminal.err(`Stopped: ${cases.length - results.length} of ${cases.length} cases were not run.`)
    printTotal(cardOf(options.adapter ? 'B' : 'A', results))
  })
  const inOrder: AsyncIterable<CaseResult> = Readable.from(cases).map(resultOf, { concurrency: AT_ONCE })
  for await (const result of inOrder) {
    results.push(result)
    if (!options.json) terminal.lines(caseLines(result, width))
  }
  const card = cardOf(options.adapter ? 'B' : 'A', results)
  printTotal(card)
  if (options.junit !== undefined) writeText(options.junit, junitOf(card, command.join(' ')))
  return exitCodeOf(card)
}

/**
 * Reads a file with one `PATTERN  reason` on each line; empty lines and lines that begin with # are ignored.
 * @returns why a case is skipped; undefined if it is not
 */
function skipsIn(file: string | undefined, programme: readonly Case[]) {
  const fix = 'Give the path of a file with one "PATTERN  reason" on each line.'
  const lines = file === undefined ? [] : readText(file, fix).split(/\r?\n/)
  const skips = lines.flatMap((line, n) => {
    const [, pattern, reason = ''] = /^\s*([^\s#]\S*)\s*(.*?)\s*$/.exec(line) ?? []
    return pattern === undefined ? [] : [{ pattern, reason, place: `${file}:${n + 1}:` }]
  })
  const problems = skips.flatMap(({ pattern, reason, place }) => {
    if (reason === '')
      return [`${place} "${pattern}" has no reason. Write why it is skipped after the pattern.`]
    const problem = runProblem(pattern, programme)
    return problem === undefined ? [] : [`${place} ${problem} Remove the line, or correct it.`]
  })
  if (problems.length > 0) throw new CommandFailed(problems.join('\n'))
  return (name: string) => skips.find(({ pattern }) => fitsGlob(pattern, name))?.reason
}
