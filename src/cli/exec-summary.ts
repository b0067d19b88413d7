import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { callControlOver } from '../control-client/ask.ts'
import { type ExplainedRequest, explainRequests } from '../control-client/explained.ts'
import { requestsOver } from '../control-client/requests.ts'
import type { AssumptionCatalog } from '../core/assumptions.ts'
import { findingCounts, findingsFrom } from '../core/conduct/finding-lines.ts'
import { annotation, codeCell, codeSpan, plainMarkdown } from '../core/quoted.ts'
import { replayCommand, scriptsOf } from '../core/record/replay-command.ts'
import { counted } from '../core/words.ts'
import type { RunningEmulator } from '../emulator/emulator.ts'
import type { Logger } from '../emulator/options.ts'
import { type CoverageReport, coverageOf, percentOf } from '../server/control/coverage/report.ts'
import { isFailure } from '../terminal/request-line.ts'
import { REQUEST_OUTCOMES, type Tally } from '../terminal/tally.ts'
import { requireWritable, writeJson } from '../terminal/text-file.ts'

/** What is known of a run besides its counts. */
interface Run {
  readonly command: readonly string[]
  readonly exit_code: number
  /** The signal that killed the command; null when it exited with a code. */
  readonly signal: string | null
  /** Real milliseconds that the command took. */
  readonly duration_ms: number
  readonly base_url: string
  /** Of a command that failed: the last refused requests of the sandboxes that still exist, with their reasons. */
  readonly refusals?: readonly ExplainedRequest[]
  /** With `--record-failures`, of a command that failed: the files that `replay` repeats. */
  readonly recordings?: readonly string[]
  /** Those of them that contain scripts, which `replay` runs only with `--run-scripts`. */
  readonly scripted?: readonly string[]
}

/** The summary of a run; `exec --json` prints it as one line. */
export type Summary = ReturnType<typeof summaryOf>

/** @param covered with `--coverage`: the points that this run and the earlier ones in the file have met */
export function summaryOf(run: Run, tally: Tally, { items }: AssumptionCatalog, covered?: CoverageReport) {
  const { operations, faults, findings, omitted } = tally
  const { object: _, data: __, ...coverage } = covered ?? coverageOf([])
  return {
    ...run,
    requests: operations.reduce((sum, { total }) => sum + total, 0),
    operations,
    faults,
    /** The assumptions that the header X-Emulator-Assumed names, the most used ones first. */
    assumptions: tally.assumed.flatMap(([id, used]) => {
      const item = items.get(id)
      return item?.reportedIn === 'response' ? [{ id, used, open: item.open }] : []
    }),
    /** How the clients have behaved, in all sandboxes. */
    conduct: { findings, omitted },
    ...(covered && { coverage }),
  }
}

/** Maximum number of refused requests in a report; a workflow of GitHub shows as many annotations for a step. */
const MAX_REFUSED = 10

/** More requests than any log has. */
const WHOLE_LOG = 100_000

/** The last requests that were refused in any sandbox that still exists: fixtures remove those of tests that passed. */
export async function refusalsOf({ sandboxes, control }: RunningEmulator): Promise<ExplainedRequest[]> {
  const explained: ExplainedRequest[] = []
  for (const { sandbox } of sandboxes.list()) {
    const requests = requestsOver(callControlOver(control, sandbox.name))
    const refused = (await requests.list({ limit: WHOLE_LOG })).filter(isFailure).slice(-MAX_REFUSED)
    for (const each of await explainRequests({ name: sandbox.name, requests }, refused)) explained.push(each)
  }
  return explained.slice(-MAX_REFUSED)
}

/** The refused requests of a failed run for people, in a GitHub workflow as annotations. */
export function refusalLines(
  refusals: readonly ExplainedRequest[],
  { operations }: Pick<Tally, 'operations'>,
  isWorkflow: boolean,
): string[] {
  // Sandboxes that were deleted count, too.
  const outcomes = operations.flatMap((each) => Object.entries(each.outcomes))
  const sum = (counts: typeof outcomes) => counts.reduce((all, [, count]) => all + count, 0)
  const refused = sum(outcomes.filter(([name]) => !/^[123]xx$/.test(name)))
  if (refused === 0) return []
  const last = refused > refusals.length ? `; the last ${refusals.length}` : ''
  return [
    `The emulator refused ${refused} of ${counted(sum(outcomes), 'request')}${last}:`,
    ...refusals.flatMap(({ line, reasons }) =>
      isWorkflow
        ? annotation('error', line, reasons.length > 0 ? reasons : [line])
        : [`  ${line}`, ...reasons.map((each) => `    ${each}`)],
    ),
  ]
}

/** Maximum number of sandboxes that are recorded: a process may have thousands. */
const MAX_RECORDED = 20

/**
 * Records the newest sandboxes that had requests and still exist. A recording that cannot be written is a warning, since the
 * run has failed for another reason.
 */
export async function recordFailures(emulator: RunningEmulator, directory: string, logger: Logger) {
  const used = emulator.sandboxes.list().filter(({ sandbox }) => sandbox.recording.hasRequests)
  const [recordings, scripted]: [string[], string[]] = [[], []]
  try {
    // The command may have removed it.
    requireWritable(directory, 'recordFailures')
    for (const { sandbox } of used.slice(-MAX_RECORDED)) {
      // The prefix keeps names apart that are devices on Windows, such as con.
      const file = join(directory, `sandbox-${sandbox.name}.json`)
      const bundle = await emulator.record(sandbox)
      writeJson(file, bundle, 'private')
      recordings.push(file)
      if (scriptsOf(bundle).length > 0) scripted.push(file)
    }
  } catch (error) {
    logger.warn((error as Error).message)
  }
  const newest = used.length > recordings.length ? `, the newest ${recordings.length} of ${used.length}` : ''
  return { recordings, scripted, title: `Recordings of the sandboxes${newest}` }
}

/** The recordings of a failed run for people, in a GitHub workflow as an annotation. */
export function recordingLines(
  { recordings, scripted, title }: Awaited<ReturnType<typeof recordFailures>>,
  isWorkflow: boolean,
): string[] {
  const commands = recordings.map((file) => replayCommand(file, scripted.includes(file)))
  if (commands.length === 0) return []
  return isWorkflow
    ? [annotation('notice', title, commands)]
    : [`${title}:`, ...commands.map((each) => `  ${each}`)]
}

/** Maximum number of rows in one table: GitHub limits the size of a step's summary. */
const MAX_ROWS = 50

/** Maximum number of assumptions in the table; the most used ones are listed. */
const MAX_ASSUMPTIONS = 10

/** Maximum number of characters of a text that users choose, such as a name. */
const MAX_TEXT = 200

/** Adds a summary to a file in Markdown, as the page of a workflow run shows it. */
export function addSummary(file: string, summary: Summary, logger: Logger): void {
  try {
    appendFileSync(file, markdownOf(summary))
  } catch (error) {
    logger.warn(`The summary could not be added to ${file}: ${(error as Error).message}`)
  }
}

export function markdownOf(summary: Summary): string {
  const { command, exit_code, signal, duration_ms, requests, assumptions, coverage } = summary
  const end = signal === null ? `ended with ${exit_code}` : `was ended by ${signal} (${exit_code})`
  const time = `${(duration_ms / 1000).toFixed(1)} s`
  const some = `${counted(requests, 'request')} to the emulator in ${time}.`
  const none = `No request came to the emulator in ${time}. Does the command read \`WORKSPACE_BASE_URL\`?`
  // Notes are left out: a client may be right to cause them.
  const findings = findingsFrom(summary.conduct.findings, 'warning')
  const outcomes = REQUEST_OUTCOMES.filter((each) =>
    summary.operations.some((operation) => operation.outcomes[each] !== undefined),
  )
  const met = coverage && `${percentOf(coverage)} %** (${coverage.met} of ${coverage.total} points)`
  const parts = [
    `### ${codeSpan(short(command.join(' ')))} ${end}`,
    requests === 0 ? none : some,
    section(
      ['operation', 'requests', ...outcomes],
      summary.operations.map(({ operation, total, outcomes: counts }) => [
        operation === null ? 'none of the operations' : code(operation),
        total,
        ...outcomes.map((each) => counts[each] ?? ''),
      ]),
    ),
    section(
      ['refused request', 'why'],
      (summary.refusals ?? []).map(({ line, reasons }) => [code(line), plainMarkdown(reasons.join(' '))]),
      '**Refused requests, the last ones**',
    ),
    section(
      ['rule', 'fired'],
      summary.faults.map(({ id, fired }) => [code(id), fired === 0 ? 'never' : fired]),
      '**Faults**',
    ),
    section(
      ['item', 'responses', 'what the specification leaves open'],
      assumptions.slice(0, MAX_ASSUMPTIONS).map(({ id, used, open }) => [id, used, plainMarkdown(open)]),
      '**Assumptions that responses rely on**',
      assumptions.length,
    ),
    section(
      ['verdict', 'severity', 'sandbox', 'what happened'],
      findings.map((each) => [
        ...[code(each.code), each.severity, code(each.sandbox), plainMarkdown(each.message)],
      ]),
      `**Conduct of the clients: ${findingCounts(findings)}**`,
      findings.length + summary.conduct.omitted,
    ),
    met && `**Contract coverage: ${met}`,
    section(
      ['not met', 'how to meet it'],
      (coverage?.gaps ?? []).map(({ id, how }) => [code(id), code(how)]),
    ),
    section(
      ['to repeat what they have seen'],
      (summary.recordings ?? []).map((file) => [code(replayCommand(file, summary.scripted?.includes(file)))]),
      '**Recordings of the sandboxes**',
    ),
  ]
  return parts.flatMap((part) => (part ? [`${part}\n`] : [])).join('\n')
}

/** A table with its title; nothing without rows. */
function section(
  head: readonly string[],
  rows: readonly (readonly (string | number)[])[],
  title?: string,
  total = rows.length,
): string {
  if (rows.length === 0) return ''
  const shown = rows.slice(0, MAX_ROWS)
  const lines = [head, head.map(() => '---'), ...shown].map((cells) => `| ${cells.join(' | ')} |`)
  const more = total > shown.length ? [`\nand ${total - shown.length} more`] : []
  return [...(title === undefined ? [] : [`${title}\n`]), ...lines, ...more].join('\n')
}

function code(text: string): string {
  return codeCell(short(text))
}

// Names that users choose may have any length.
function short(text: string): string {
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}...` : text
}
