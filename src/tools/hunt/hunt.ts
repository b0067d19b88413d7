import { join } from 'node:path'
import { findingLines, findingsFrom } from '../../core/conduct/finding-lines.ts'
import { fitsGlob } from '../../core/log/glob.ts'
import { comment, printable } from '../../core/quoted.ts'
import { replayCommand, scriptsOf } from '../../core/record/replay-command.ts'
import { elapsedTime } from '../../core/time/clock.ts'
import { formatDuration, MINUTE, SECOND } from '../../core/time/instant.ts'
import { repeatEvery } from '../../core/time/realtime.ts'
import { counted } from '../../core/words.ts'
import { CommandFailed, commandAfterDashes, FAILED, OK } from '../../terminal/command.ts'
import { isNpmScript, resolveOptions, START_OPTIONS, UsageError } from '../../terminal/options.ts'
import { EXIT_CODES, onSignals } from '../../terminal/signals.ts'
import { requireWritable, writeJson, writeText } from '../../terminal/text-file.ts'
import { repeatCommand } from '../client-process.ts'
import { INCOMPLETE } from '../exit-codes.ts'
import { HUNT_OPTIONS, HUNTED_OPTIONS } from '../options.ts'
import { armSource, vitestSource } from '../vitest-source.ts'
import { failureOf, type HuntFailure, KINDS } from './judge.ts'
import { type FaultPlan, metIn, pairs, singles, smaller } from './plan.ts'
import { type HuntInvocation, type HuntSetup, type Trial, tryOut } from './trial.ts'

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
  /** Whether a recording contains scripts. */
  readonly has_scripts: boolean
}

/** The least time of one run until it counts as a hang. */
const MIN_LIMIT = 10 * SECOND

/** `hunt`: runs tests under faults, and reports what a client does wrong. Resolves with the exit code. */
export async function hunt(invocation: HuntInvocation): Promise<number> {
  const { given, terminal, env } = invocation
  const { budget, run: _, timeout, findings: folder, json, ...hunted } = invocation.options
  const command = commandAfterDashes('hunt', invocation)
  // Each run has an emulator that leaves nothing on disk.
  const start = { ...resolveOptions(START_OPTIONS, new Map(), {}), ...hunted, port: 0, ephemeral: true }
  const setup: HuntSetup = { ...invocation, command, start }
  if (folder !== undefined) requireWritable(folder, 'findings')
  const say = (text: string): void => (json ? undefined : terminal.err(printable(text)))
  // Nothing is found before the search begins. Child processes end with this one.
  let stop = (code: number): void => process.exit(code)
  const stopListening = onSignals((signal) => stop(EXIT_CODES[signal]), isNpmScript(env))
  let search: Search | undefined
  const stopReporting = repeatEvery(10 * SECOND, () => say(search?.progress ?? 'Running without faults.'))
  try {
    const began = elapsedTime()
    const clean = await cleanRun(setup, given.has('timeout') ? timeout : budget)
    const limit = given.has('timeout') ? timeout : Math.max(MIN_LIMIT, 5 * clean.ms)
    search = new Search({ setup, clean, limit, until: began + budget, say })
    const met = metIn(clean)
    say(
      `Without faults: ${counted(clean.entries.length, 'request')} to ${counted(met.operations.size, 'operation')} in ${seconds(clean.ms)}.`,
    )
    const stopped = new Promise<number>((resolve) => {
      stop = resolve
    })
    const code = await Promise.race([search.all(singles(clean.service, met)), stopped])
    const report = reportOf(search, Math.round(elapsedTime() - began))
    if (json) terminal.out(JSON.stringify(report))
    else for (const line of linesOf(report)) terminal.out(printable(line))
    if (typeof code === 'number') return code
    const isSerious = report.findings.some(({ kind }) => kind !== 'clear error')
    if (isSerious || report.without_faults.conduct.length > 0) return FAILED
    return report.dangerous_not_run > 0 ? INCOMPLETE : OK
  } finally {
    stopReporting()
    stopListening()
  }
}

async function cleanRun(setup: HuntSetup, limit: number): Promise<Trial> {
  const clean = await tryOut(setup, [], limit)
  if (clean.isLate)
    throw new CommandFailed(
      `Without faults, the command still ran after ${formatDuration(limit)}. Raise --timeout or --budget.`,
    )
  if (clean.exit_code !== 0)
    throw new CommandFailed(
      `The command fails without faults (exit code ${clean.exit_code}), so that faults would show nothing. Its output ends with:\n${clean.output.trimEnd().split('\n').slice(-10).join('\n')}`,
    )
  if (setup.options.junit !== undefined && !clean.hasJunit)
    throw new CommandFailed(
      `--junit: the command has not written ${setup.options.junit}. Let its runner write it, such as with pytest --junitxml FILE.`,
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
  readonly say: (text: string) => void
}

/** Runs with one candidate after the other. */
class Search {
  readonly options: SearchOptions
  readonly findings: HuntFinding[] = []
  readonly counts = { faults: 0, runs: 0, passed: 0, never_fired: 0 }
  /** The single faults that have not run yet. */
  waiting: readonly FaultPlan[] = []
  readonly #failures = new Map<string, HuntFailure | undefined>()

  constructor(options: SearchOptions) {
    this.options = options
  }

  /** Runs with every single fault, the dangerous ones first, then with sequences of two until the time is over. */
  async all(single: readonly FaultPlan[]): Promise<void> {
    const { say, setup, clean, until } = this.options
    const { run: pattern = '*', seed } = setup.options
    const parts = pattern.split('+')
    const chosen = single.filter(({ name }) => parts.some((part) => fitsGlob(part, name)))
    if (chosen.length === 0)
      throw new UsageError([
        `--run: no fault matches "${pattern}". Names are OPERATION/PRESET, such as ${single[0]?.name}, with /lasting behind it for a fault without an end, and with + between two of them.`,
      ])
    const survived: FaultPlan[] = parts.length > 1 ? chosen : []
    this.waiting = parts.length > 1 ? [] : chosen
    this.counts.faults = this.waiting.length
    if (this.waiting.length > 1)
      say(
        `${counted(chosen.length, 'fault')} x ${seconds(clean.ms)} = ${roughly(chosen.length * clean.ms)}; the budget reaches ${Math.max(0, Math.min(chosen.length, Math.ceil((until - elapsedTime()) / clean.ms)))}, the ${dangerousIn(chosen)} most dangerous first.`,
      )
    for (const each of this.waiting) {
      if (this.#isOver) return
      if (await this.#survives(each)) survived.push(each)
      this.waiting = this.waiting.slice(1)
    }
    if (parts.length === 1 && pattern !== '*') return
    for (const each of pairs(survived, seed).filter(({ name }) => fitsGlob(pattern, name))) {
      if (this.#isOver) return
      await this.#survives(each)
    }
  }

  get #isOver(): boolean {
    return elapsedTime() >= this.options.until
  }

  get progress(): string {
    const { waiting, findings, counts } = this
    return `${counts.faults - waiting.length} of ${counted(counts.faults, 'fault')} in ${counted(counts.runs, 'run')}, ${counted(findings.length, 'finding')}.`
  }

  /** Whether the command passes although all the faults have happened. A failure becomes a finding. */
  async #survives(candidate: FaultPlan): Promise<boolean> {
    const { trial, failure, isFired } = await this.#run(candidate)
    if (!isFired) this.counts.never_fired++
    else if (failure === undefined) this.counts.passed++
    else await this.#found(candidate, failure, trial)
    return isFired && failure === undefined
  }

  async #run({ name, rules }: FaultPlan) {
    const { setup, clean, limit } = this.options
    this.counts.runs++
    const trial = await tryOut(setup, rules, limit)
    const isFired = trial.fired >= rules.length
    const known = new Set(this.findings.map(({ defect }) => defect))
    const failure = isFired ? failureOf(trial, { clean, rules, limit, known }) : undefined
    this.#failures.set(name, failure)
    return { trial, failure, isFired }
  }

  async #found(candidate: FaultPlan, failure: HuntFailure, trial: Trial): Promise<void> {
    const same = this.findings.find(({ kind, defect }) => kind === failure.kind && defect === failure.defect)
    if (same !== undefined) {
      same.also.push(candidate.name)
      return
    }
    const { setup, say } = this.options
    const smallest = await this.#shrunk(candidate, failure.kind)
    // A hang has taken all of its time once, and nothing else has ended it.
    const isSure = failure.kind === 'hang' && smallest === candidate
    const again = isSure ? { failure, trial } : await this.#run(smallest)
    const { exit_code, ms } = trial
    const isRepeated = again.failure?.kind === failure.kind
    const { recordings } = isRepeated ? again.trial : trial
    const found = { ...smallest, ...failure }
    say(`Found: ${failure.kind} under ${smallest.name}.`)
    this.findings.push({
      ...found,
      exit_code,
      ms,
      isRepeated,
      also: [],
      repeat: repeatCommand('hunt', setup, { ...HUNTED_OPTIONS, junit: HUNT_OPTIONS.junit }, smallest.name),
      recordings:
        setup.options.findings === undefined ? [] : writeFinding(setup.options.findings, found, recordings),
      has_scripts: recordings.some((bundle) => scriptsOf(bundle).length > 0),
    })
  }

  /** The smallest part of a sequence that fails in the same way. */
  async #shrunk(candidate: FaultPlan, kind: HuntFailure['kind']): Promise<FaultPlan> {
    for (const each of smaller(candidate)) {
      if (!this.#failures.has(each.name)) await this.#run(each)
      if (this.#failures.get(each.name)?.kind === kind) return this.#shrunk(each, kind)
    }
    return candidate
  }
}

/**
 * Writes the rules of a finding, a test that arms them, and its recordings.
 * @returns the files of the recordings
 */
function writeFinding(
  folder: string,
  finding: HuntFailure & FaultPlan,
  recordings: Trial['recordings'],
): string[] {
  const { name, rules } = finding
  const base = join(folder, name.replaceAll(/[^\w.+-]+/g, '-'))
  writeJson(`${base}.faults.json`, rules.length === 1 ? rules[0] : rules)
  writeText(`${base}.test.ts`, `${testOf(finding)}\n`)
  return recordings.map((bundle, n) => {
    const file = `${base}.recording${n === 0 ? '' : `-${n + 1}`}.json`
    writeJson(file, bundle, 'private')
    return file
  })
}

function testOf({ name, kind, message, rules }: HuntFailure & FaultPlan): string {
  const lines = [
    ...armSource(rules),
    '// Call your client here, with sandbox.baseUrl and sandbox.apiKey, and check its result.',
    'await expect(sandbox).toHaveFiredAllFaults()',
    'await expect(sandbox).toHaveBehaved()',
  ]
  return vitestSource(`works under ${name}`, lines, { above: [comment(`${kind}: ${message}`)] })
}

/** What a search has found, as `--json` prints it. */
export type HuntReport = ReturnType<typeof reportOf>

function reportOf({ options: { setup, clean }, findings, counts, waiting }: Search, ms: number) {
  return {
    object: 'hunt' as const,
    command: setup.command,
    /** Real milliseconds. */
    ms,
    without_faults: {
      ms: clean.ms,
      requests: clean.entries.length,
      /** The errors and warnings about the client. */
      conduct: findingsFrom(clean.findings, 'warning'),
    },
    ...counts,
    /** The single faults that the budget did not reach, and how many of them are dangerous. */
    not_run: waiting.length,
    dangerous_not_run: dangerousIn(waiting),
    findings: findings.toSorted((a, b) => KINDS.indexOf(a.kind) - KINDS.indexOf(b.kind)),
  }
}

function linesOf({ findings, without_faults, ...counts }: HuntReport): string[] {
  const { faults, runs, passed, never_fired, not_run, dangerous_not_run, ms } = counts
  const { conduct } = without_faults
  const left = `${not_run} of ${counted(faults, 'fault')} not run, ${dangerous_not_run} of them dangerous`
  const rest = [
    `${passed} passed`,
    ...(never_fired > 0 ? [`${never_fired} could not happen`] : []),
    ...(not_run > 0 ? [`${left}: raise --budget`] : []),
  ]
  return [
    ...(conduct.length === 0 ? [] : ['Without faults:', ...conduct.flatMap(findingLines).map(indented)]),
    ...findings.flatMap((each) => [
      `${each.kind.toUpperCase()}: ${each.name}`,
      ...detailsOf(each).map(indented),
    ]),
    `${counted(runs, 'run')} in ${seconds(ms)}: ${counted(findings.length, 'finding')}; ${rest.join(', ')}.`,
  ]
}

/** Maximum number of faults that are named. */
const MAX_NAMED = 5

function detailsOf({ also, conduct, ...found }: HuntFinding): string[] {
  const more = also.length > MAX_NAMED ? ` and ${also.length - MAX_NAMED} more` : ''
  return [
    found.message,
    ...(conduct.length > 0 ? [`Conduct: ${conduct.join(', ')}`] : []),
    ...(found.isRepeated ? [] : ['It did not fail in the same way a second time.']),
    `Fault: ${found.rules.map((rule) => JSON.stringify(rule)).join(', then ')}`,
    ...(also.length > 0 ? [`Also under: ${also.slice(0, MAX_NAMED).join(', ')}${more}`] : []),
    `Again: ${found.repeat}`,
    ...found.recordings.map((file) => `Recording: ${replayCommand(file, found.has_scripts)}`),
  ]
}

const indented = (text: string): string => `    ${text}`
const seconds = (ms: number): string => `${(ms / SECOND).toFixed(1)} s`
const dangerousIn = (plans: readonly FaultPlan[]): number =>
  plans.filter(({ isDangerous }) => isDangerous).length
const roughly = (ms: number): string => (ms < 100 * SECOND ? seconds(ms) : `${Math.ceil(ms / MINUTE)} min`)
