import { fitsGlob } from '../../../core/log/glob.ts'
import { elapsedTime } from '../../../core/time/clock.ts'
import { formatDuration, SECOND } from '../../../core/time/instant.ts'
import { counted } from '../../../core/words.ts'
import { findingLines, findingsFrom } from '../../finding-lines.ts'
import { replayCommand, shellWord } from '../../shell-word.ts'
import { CommandFailed, commandAfterDashes, FAILED, type Invocation, OK } from '../command.ts'
import {
  flagOf,
  HUNTED_OPTIONS,
  isNpmScript,
  optionOf,
  resolveOptions,
  START_OPTIONS,
  UsageError,
} from '../options.ts'
import { printable } from '../print.ts'
import { EXIT_CODES, onSignals } from '../signals.ts'
import { requireWritable } from '../text-file.ts'
import { writeFinding } from './finding-files.ts'
import { failureOf, type HuntFailure, isSame, KINDS } from './judge.ts'
import { type FaultPlan, metIn, pairs, singles, smaller } from './plan.ts'
import { type HuntSetup, type Trial, tryOut } from './trial.ts'

type HuntInvocation = Invocation<
  (typeof HUNTED_OPTIONS)[number] | 'budget' | 'run' | 'timeout' | 'findings' | 'json'
>

/** A failure with the smallest faults that cause it. */
interface HuntFinding extends HuntFailure, FaultPlan {
  readonly exit_code: number
  readonly ms: number
  /** Whether a second run with the same faults had a failure of the same kind. */
  readonly isRepeated: boolean
  /** The other faults with the same failure. */
  readonly also: string[]
  /** The command that repeats it. */
  readonly repeat: string
  /** The files of what the sandboxes have seen; empty without `--findings`. */
  readonly recordings: readonly string[]
}

/** The least time of one run until it counts as a hang. */
const MIN_LIMIT = 10 * SECOND

/** `hunt`: runs tests under faults, and reports what a client does wrong. Resolves with the exit code. */
export async function hunt(invocation: HuntInvocation): Promise<number> {
  const { given, terminal, env } = invocation
  const { budget, run: pattern, timeout, findings: folder, json, ...start } = invocation.options
  const command = commandAfterDashes('hunt', invocation)
  // Each run has an emulator that leaves nothing on disk.
  const options = { ...resolveOptions(START_OPTIONS, new Map(), {}), ...start, port: 0, ephemeral: true }
  const setup: HuntSetup = { command, options, given, env, isRecorded: folder !== undefined }
  if (folder !== undefined) requireWritable(folder, 'findings')
  const say = (text: string): void => (json ? undefined : terminal.err(printable(text)))
  // Child processes end with this one.
  const stopListening = onSignals((signal) => process.exit(EXIT_CODES[signal]), isNpmScript(env))
  try {
    const began = elapsedTime()
    const clean = await cleanRun(setup, given.has('timeout') ? timeout : budget)
    const limit = given.has('timeout') ? timeout : Math.max(MIN_LIMIT, 5 * clean.ms)
    const search = new Search({ setup, clean, limit, until: began + budget, pattern, folder, say })
    const met = metIn(clean)
    say(
      `Without faults: ${counted(clean.entries.length, 'request')} to ${counted(met.operations.size, 'operation')} in ${seconds(clean.ms)}.`,
    )
    await search.all(singles(clean.service, met), options.seed)
    const report: HuntReport = {
      object: 'hunt',
      command,
      ms: Math.round(elapsedTime() - began),
      without_faults: {
        ms: clean.ms,
        requests: clean.entries.length,
        conduct: findingsFrom(clean.findings, 'warning'),
      },
      ...search.result(),
    }
    if (json) terminal.out(JSON.stringify(report))
    else for (const line of linesOf(report)) terminal.out(printable(line))
    const isSerious = report.findings.some(({ kind }) => kind !== 'clear error')
    return isSerious || report.without_faults.conduct.length > 0 ? FAILED : OK
  } finally {
    stopListening()
  }
}

async function cleanRun(setup: HuntSetup, limit: number): Promise<Trial> {
  const clean = await tryOut(setup, [], limit)
  if (clean === undefined || clean.isLate)
    throw new CommandFailed(
      `Without faults, the command still ran after ${formatDuration(limit)}. Raise --timeout or --budget.`,
    )
  if (clean.exit_code !== 0)
    throw new CommandFailed(
      `The command fails without faults (exit code ${clean.exit_code}), so that faults would show nothing. Its output ends with:\n${clean.output.trimEnd().split('\n').slice(-10).join('\n')}`,
    )
  if (clean.entries.length === 0)
    throw new CommandFailed(
      'The command sent no request to the emulator. It has to use WORKSPACE_BASE_URL and WORKSPACE_API_KEY, or WORKSPACE_EMULATOR_URL.',
    )
  return clean
}

interface SearchOptions {
  readonly setup: HuntSetup
  readonly clean: Trial
  /** Real milliseconds for one run. */
  readonly limit: number
  /** When no further run begins, as `elapsedTime` counts. */
  readonly until: number
  /** The names of the candidates that are run. */
  readonly pattern: string | undefined
  /** Directory for the files of the findings. */
  readonly folder: string | undefined
  readonly say: (text: string) => void
}

/** Runs with one candidate after the other. */
class Search {
  readonly #options: SearchOptions
  readonly #findings: HuntFinding[] = []
  readonly #counts = { runs: 0, passed: 0, never_fired: 0, not_run: 0 }
  #known = new Map<string, { readonly failure: HuntFailure | undefined; readonly isFired: boolean }>()

  constructor(options: SearchOptions) {
    this.#options = options
  }

  /** Runs with every single fault, then with sequences of two until the time is over. */
  async all(single: readonly FaultPlan[], seed: number): Promise<void> {
    const { pattern = '*', say } = this.#options
    const parts = pattern.split('+')
    const chosen = single.filter(({ name }) => parts.some((part) => fitsGlob(part, name)))
    if (chosen.length === 0)
      throw new UsageError([
        `--run: no fault matches "${pattern}". Names are OPERATION/PRESET, such as ${single[0]?.name}, with /lasting behind it for a fault without an end, and with + between two of them.`,
      ])
    const survived: FaultPlan[] = parts.length > 1 ? chosen : []
    for (const [n, each] of (parts.length > 1 ? [] : chosen).entries()) {
      if (n > 0 && n % 20 === 0)
        say(`${n} of ${counted(chosen.length, 'fault')}, ${counted(this.#findings.length, 'finding')}.`)
      if (await this.#survives(each)) survived.push(each)
    }
    if (parts.length === 1 && pattern !== '*') return
    for (const [n, each] of pairs(survived, seed)
      .filter(({ name }) => fitsGlob(pattern, name))
      .entries()) {
      if (this.#isOver) break
      if (n % 20 === 0) say(`${n} sequences of two faults.`)
      await this.#survives(each)
    }
  }

  result() {
    const findings = this.#findings.toSorted((a, b) => KINDS.indexOf(a.kind) - KINDS.indexOf(b.kind))
    return { ...this.#counts, findings }
  }

  get #isOver(): boolean {
    return elapsedTime() >= this.#options.until
  }

  /** Whether the command passes although all the faults have happened. A failure becomes a finding. */
  async #survives(candidate: FaultPlan): Promise<boolean> {
    if (this.#isOver) {
      this.#counts.not_run++
      return false
    }
    const { trial, failure, isFired } = await this.#run(candidate)
    if (!isFired) this.#counts.never_fired++
    else if (failure === undefined) this.#counts.passed++
    else if (trial !== undefined) await this.#found(candidate, failure, trial)
    return isFired && failure === undefined
  }

  async #run(candidate: FaultPlan) {
    const { setup, clean, limit } = this.#options
    this.#counts.runs++
    const trial = await tryOut(setup, candidate.rules, limit)
    const isFired = trial !== undefined && trial.fired >= candidate.rules.length
    const comparison = { clean, rules: candidate.rules, limit }
    const failure = isFired ? failureOf(trial, comparison) : undefined
    this.#known.set(candidate.name, { failure, isFired })
    return { trial, failure, isFired }
  }

  async #found(candidate: FaultPlan, failure: HuntFailure, trial: Trial): Promise<void> {
    const same = this.#findings.find((each) => isSame(each, failure))
    if (same !== undefined) {
      same.also.push(candidate.name)
      return
    }
    const { folder, say } = this.#options
    const smallest = await this.#shrunk(candidate, failure)
    // A hang has taken all of its time once, and nothing else has ended it.
    const isSure = failure.kind === 'hang' && smallest === candidate
    const again = isSure ? { failure, trial } : await this.#run(smallest)
    const { exit_code, ms } = trial
    const isRepeated = again.failure?.kind === failure.kind
    const { recordings } = (isRepeated && again.trial) || trial
    say(`Found: ${failure.kind} under ${smallest.name}.`)
    this.#findings.push({
      ...smallest,
      ...failure,
      exit_code,
      ms,
      isRepeated,
      also: [],
      repeat: repeatOf(smallest, this.#options),
      recordings: folder === undefined ? [] : writeFinding(folder, { ...smallest, ...failure }, recordings),
    })
  }

  /** The smallest part of a sequence that fails in the same way. */
  async #shrunk(candidate: FaultPlan, failure: HuntFailure): Promise<FaultPlan> {
    for (const each of smaller(candidate)) {
      const known = this.#known.get(each.name) ?? (await this.#run(each))
      if (known.failure?.kind === failure.kind) return this.#shrunk(each, failure)
    }
    return candidate
  }
}

function repeatOf({ name }: FaultPlan, { setup: { command, given, options } }: SearchOptions): string {
  const flags = HUNTED_OPTIONS.filter((option) => given.has(option)).flatMap((option) => {
    const value = options[option]
    if (optionOf(option).kind === 'switch') return value === true ? [flagOf(option)] : []
    return [flagOf(option), typeof value === 'boolean' ? (value ? 'on' : 'off') : String(value)]
  })
  return ['workspace-emulator', 'hunt', ...flags, '--run', name, '--', ...command].map(shellWord).join(' ')
}

/** What a search has found, as `--json` prints it. */
export interface HuntReport extends ReturnType<Search['result']> {
  readonly object: 'hunt'
  readonly command: readonly string[]
  /** Real milliseconds. */
  readonly ms: number
  readonly without_faults: {
    readonly ms: number
    readonly requests: number
    /** The errors and warnings about the client. */
    readonly conduct: Trial['findings']
  }
}

function linesOf({ findings, without_faults: { conduct }, ...counts }: HuntReport): string[] {
  const { runs, passed, never_fired, not_run, ms } = counts
  const rest = [
    `${passed} passed`,
    ...(never_fired > 0 ? [`${never_fired} could not happen`] : []),
    ...(not_run > 0 ? [`${not_run} were not run: raise --budget`] : []),
  ]
  return [
    ...(conduct.length === 0 ? [] : ['Without faults:', ...conduct.flatMap(findingLines).map(indented)]),
    ...findings.flatMap(findingText),
    `${counted(runs, 'run')} in ${seconds(ms)}: ${counted(findings.length, 'finding')}; ${rest.join(', ')}.`,
  ]
}

function findingText({
  kind,
  name,
  message,
  conduct,
  rules,
  isRepeated,
  also,
  repeat,
  recordings,
}: HuntFinding): string[] {
  return [
    `${kind.toUpperCase()}: ${name}`,
    ...[
      message,
      ...(conduct.length > 0 ? [`Conduct: ${conduct.join(', ')}`] : []),
      ...(isRepeated ? [] : ['It did not fail in the same way a second time.']),
      `Fault: ${rules.map((rule) => JSON.stringify(rule)).join(', then ')}`,
      ...(also.length > 0 ? [`Also under: ${named(also)}`] : []),
      `Again: ${repeat}`,
      ...recordings.map((file) => `Recording: ${replayCommand(file)}`),
    ].map(indented),
  ]
}

/** Maximum number of faults that are named. */
const MAX_NAMED = 5

function named(names: readonly string[]): string {
  const more = names.length > MAX_NAMED ? ` and ${names.length - MAX_NAMED} more` : ''
  return names.slice(0, MAX_NAMED).join(', ') + more
}

const indented = (text: string): string => `    ${text}`
const seconds = (ms: number): string => `${(ms / SECOND).toFixed(1)} s`
