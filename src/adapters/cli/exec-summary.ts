import type { AssumptionCatalog } from '../../core/assumptions.ts'
import { type FaultCounter, faultCounters, faultRules } from '../../core/faults/rule.ts'
import type { LogEntry } from '../../core/log/request-log.ts'
import type { Sandbox } from '../../core/sandboxes/sandbox.ts'
import type { Change } from '../../core/state/commit.ts'
import { counted } from '../../core/words.ts'
import { type CoverageReport, percentOf } from '../control/client/coverage.ts'
import { findingCounts, findingsFrom } from '../finding-lines.ts'
import { replayCommand } from '../shell-word.ts'
import type { ConductTally, SandboxFinding } from './conduct-commands.ts'
import { printable } from './print.ts'

/**
 * The outcome of a request: a class of statuses, `other` for a status without a class, or `cut` for a request without a status.
 */
const OUTCOMES = ['1xx', '2xx', '3xx', '4xx', '5xx', 'other', 'cut'] as const
type Outcome = (typeof OUTCOMES)[number]

/** The outcomes of the requests to one operation. */
interface OperationCount {
  /** Null for requests that match no operation. */
  readonly operation: string | null
  readonly total: number
  readonly outcomes: Readonly<Partial<Record<Outcome, number>>>
}

/** Counts the requests, faults and assumptions of a run in all sandboxes of an emulator, deleted ones included. */
export class Tally {
  readonly #operations = new Map<string | null, Map<Outcome, number>>()
  readonly #assumed = new Map<string, number>()
  readonly #faults = new Map<string, number>()

  /** Counts the events of a sandbox from now on, and its fault rules. */
  watch({ faults, log, store }: Sandbox): void {
    for (const { id } of faults.rules) add(this.#faults, id, 0)
    log.onEntry((entry) => this.#count(entry))
    store.onCommit(({ changes }) => {
      for (const change of changes) this.#follow(change)
    })
  }

  /** In the order in which operations were first called. */
  get operations(): OperationCount[] {
    return [...this.#operations].map(([operation, outcomes]) => ({
      operation,
      total: [...outcomes.values()].reduce((sum, n) => sum + n, 0),
      outcomes: Object.fromEntries(outcomes),
    }))
  }

  /** In the order in which they were armed. */
  get faults(): Summary['faults'] {
    return [...this.#faults].map(([id, fired]) => ({ id, fired }))
  }

  /** The number of responses that rely on each assumption that responses can name, the most used ones first. */
  get assumed(): readonly (readonly [id: string, responses: number])[] {
    return [...this.#assumed].sort(([a, n], [b, m]) => m - n || (a < b ? -1 : 1))
  }

  #count({ assumed, faults, status, ...entry }: LogEntry): void {
    const operation = entry.operation ?? null
    const outcomes = this.#operations.get(operation) ?? new Map<Outcome, number>()
    this.#operations.set(operation, outcomes)
    add(outcomes, outcomeOf(status))
    for (const id of assumed) add(this.#assumed, id)
    // Rules from magic values of a request are in no table.
    for (const { rule } of faults?.fired ?? []) if (rule.source === 'magic') add(this.#faults, rule.id)
  }

  #follow({ table, id, before, after }: Change): void {
    if (table === faultRules.name && after !== undefined) add(this.#faults, id, 0)
    if (table !== faultCounters.name || after === undefined) return
    const [{ rule, key, fired }, was] = [after as FaultCounter, before as FaultCounter | undefined]
    // The counter without a key counts all matches of its rule.
    if (key === null) add(this.#faults, rule, Math.max(0, fired - (was?.fired ?? 0)))
  }
}

function outcomeOf(status: number): Outcome {
  if (status === 0) return 'cut'
  return OUTCOMES.find((each) => each === `${Math.floor(status / 100)}xx`) ?? 'other'
}

function add<K>(counts: Map<K, number>, key: K, more = 1): void {
  counts.set(key, (counts.get(key) ?? 0) + more)
}

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
  /** How often the fault rules with one id fired, in all sandboxes; 0: a fault that never fired proves nothing. */
  readonly faults: readonly { readonly id: string; readonly fired: number }[]
  /** The assumptions that the header X-Emulator-Assumed names, the most used ones first. */
  readonly assumptions: readonly { readonly id: string; readonly used: number; readonly open: string }[]
  /** How the clients have behaved, in all sandboxes. */
  readonly conduct: { readonly findings: readonly SandboxFinding[]; readonly omitted: number }
  /** With `--record-failures`, of a command that failed: the files that `replay` repeats. */
  readonly recordings?: readonly string[]
  /** With `--coverage`: the points of the contract that this run and the earlier ones in the file have met. */
  readonly coverage?: Omit<CoverageReport, 'object' | 'data'>
}

/** @param run the facts besides what was counted */
export function summaryOf(
  run: Pick<Summary, 'command' | 'exit_code' | 'signal' | 'duration_ms' | 'base_url' | 'recordings'>,
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
    `### ${span(command.join(' '))} ${end}`,
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
      summary.assumptions.slice(0, MAX_ASSUMPTIONS).map(({ id, used, open }) => [id, used, escaped(open)]),
      summary.assumptions.length,
    ),
    conductTable(summary.conduct),
    coverageTable(summary.coverage),
    section(
      'Recordings of the sandboxes',
      ['to repeat what they have seen'],
      (summary.recordings ?? []).map((file) => [code(replayCommand(file))]),
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
      escaped(printable(message)),
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
  const present = OUTCOMES.filter((each) => operations.some(({ outcomes }) => outcomes[each] !== undefined))
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

// A bar ends a cell, also within a code span, unless it is escaped; outside of tables the backslash would be shown.
function code(text: string): string {
  return span(text).replaceAll('|', '\\|')
}

// Names that users choose may contain any character, also the end of a code span.
function span(text: string): string {
  const plain = printable(text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}...` : text)
  return plain === '' ? '' : `\`${plain.replaceAll('`', "'")}\``
}

function escaped(text: string): string {
  return text.replaceAll(/[|<>`*_[\]\\]/g, '\\$&')
}
