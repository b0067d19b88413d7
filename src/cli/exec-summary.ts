import type { AssumptionCatalog } from '../core/assumptions.ts'
import { findingCounts, findingsFrom } from '../core/conduct/finding-lines.ts'
import { codeCell, codeSpan, plainMarkdown } from '../core/quoted.ts'
import { replayCommand } from '../core/record/replay-command.ts'
import { counted } from '../core/words.ts'
import { type CoverageReport, percentOf } from '../server/control/coverage/report.ts'
import type { ConductTally, SandboxFinding } from '../terminal/conduct-commands.ts'
import { type OperationCount, REQUEST_OUTCOMES, type Tally } from '../terminal/tally.ts'

/** The summary of a run; `exec --json` prints it as one line. */
export interface Summary {
  readonly command: readonly string[]
  readonly exit_code: number
  /** The signal that killed the command; null when it exited with a code. */
  readonly signal: string | null
  /** Real milliseconds that the command took. */
  readonly duration_ms: number
  readonly base_url: string
  readonly requests: number
  readonly operations: readonly OperationCount[]
  readonly faults: Tally['faults']
  /** The assumptions that the header X-Emulator-Assumed names, the most used ones first. */
  readonly assumptions: readonly { readonly id: string; readonly used: number; readonly open: string }[]
  /** How the clients have behaved, in all sandboxes. */
  readonly conduct: { readonly findings: readonly SandboxFinding[]; readonly omitted: number }
  /** With `--record-failures`, of a command that failed: the files that `replay` repeats. */
  readonly recordings?: readonly string[]
  /** Those of them that contain scripts, which `replay` runs only with `--run-scripts`. */
  readonly scripted?: readonly string[]
  /** With `--coverage`: the points of the contract that this run and the earlier ones in the file have met. */
  readonly coverage?: Omit<CoverageReport, 'object' | 'data'>
}

/** @param run the facts besides what was counted */
export function summaryOf(
  run: Pick<
    Summary,
    'command' | 'exit_code' | 'signal' | 'duration_ms' | 'base_url' | 'recordings' | 'scripted'
  >,
  { operations, faults, assumed }: Tally,
  { findings, omitted }: ConductTally,
  { items }: AssumptionCatalog,
  covered?: CoverageReport,
): Summary {
  return {
    ...run,
    requests: operations.reduce((sum, { total }) => sum + total, 0),
    operations,
    faults,
    assumptions: assumed.flatMap(([id, used]) => {
      const item = items.get(id)
      return item?.reportedIn === 'response' ? [{ id, used, open: item.open }] : []
    }),
    conduct: { findings, omitted },
    ...(covered && { coverage: countsOf(covered) }),
  }
}

function countsOf({ object: _, data: __, ...counts }: CoverageReport): NonNullable<Summary['coverage']> {
  return counts
}

/** Maximum number of rows in one table: GitHub limits the size of a step's summary. */
const MAX_ROWS = 50

/** Maximum number of assumptions in the table; the most used ones are listed. */
const MAX_ASSUMPTIONS = 10

/** Maximum number of characters of a text that users choose, such as a name. */
const MAX_TEXT = 200

/** A summary in Markdown, as the page of a workflow run shows it. */
export function markdownOf(summary: Summary): string {
  const { command, exit_code, signal, duration_ms, requests } = summary
  const end = signal === null ? `ended with ${exit_code}` : `was ended by ${signal} (${exit_code})`
  const time = `${(duration_ms / 1000).toFixed(1)} s`
  const some = `${counted(requests, 'request')} to the emulator in ${time}.`
  const none = `No request came to the emulator in ${time}. Does the command read \`WORKSPACE_BASE_URL\`?`
  const parts = [
    `### ${codeSpan(short(command.join(' ')))} ${end}`,
    requests === 0 ? none : some,
    operationTable(summary.operations),
    section(
      'Faults',
      ['rule', 'fired'],
      summary.faults.map(({ id, fired }) => [code(id), fired === 0 ? 'never' : fired]),
    ),
    section(
      'Assumptions that responses rely on',
      ['item', 'responses', 'what the specification leaves open'],
      summary.assumptions
        .slice(0, MAX_ASSUMPTIONS)
        .map(({ id, used, open }) => [id, used, plainMarkdown(open)]),
      summary.assumptions.length,
    ),
    conductTable(summary.conduct),
    coverageTable(summary.coverage),
    section(
      'Recordings of the sandboxes',
      ['to repeat what they have seen'],
      (summary.recordings ?? []).map((file) => [code(replayCommand(file, summary.scripted?.includes(file)))]),
    ),
  ]
  const present = parts.filter((part) => part !== '')
  return present.map((part) => `${part}\n`).join('\n')
}

// Notes are left out: a client may be right to cause them.
function conductTable({ findings, omitted }: Summary['conduct']): string {
  const shown = findingsFrom(findings, 'warning')
  return section(
    `Conduct of the clients: ${findingCounts(shown)}`,
    ['verdict', 'severity', 'sandbox', 'what happened'],
    shown.map(({ code: verdict, severity, sandbox, message }) => [
      code(verdict),
      severity,
      code(sandbox),
      plainMarkdown(message),
    ]),
    shown.length + omitted,
  )
}

function coverageTable(coverage: Summary['coverage']): string {
  if (coverage === undefined) return ''
  const rows = coverage.gaps.map(({ id, how }) => [code(id), code(how)])
  const table = section('', ['not met', 'how to meet it'], rows)
  return `**Contract coverage: ${percentOf(coverage)} %** (${coverage.met} of ${coverage.total} points)${table && `\n\n${table}`}`
}

function operationTable(operations: readonly OperationCount[]): string {
  const present = REQUEST_OUTCOMES.filter((each) =>
    operations.some(({ outcomes }) => outcomes[each] !== undefined),
  )
  const rows = operations.map(({ operation, total, outcomes }) => [
    operation === null ? 'none of the operations' : code(operation),
    total,
    ...present.map((each) => outcomes[each] ?? ''),
  ])
  return section('', ['operation', 'requests', ...present], rows)
}

function section(
  title: string,
  head: readonly string[],
  rows: readonly (readonly (string | number)[])[],
  total = rows.length,
): string {
  if (rows.length === 0) return ''
  const shown = rows.slice(0, MAX_ROWS)
  const lines = [head, head.map(() => '---'), ...shown].map((cells) => `| ${cells.join(' | ')} |`)
  const more = total > shown.length ? [`\nand ${total - shown.length} more`] : []
  return [...(title === '' ? [] : [`**${title}**\n`]), ...lines, ...more].join('\n')
}

function code(text: string): string {
  return codeCell(short(text))
}

// Names that users choose may have any length.
function short(text: string): string {
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}...` : text
}
