import type { Ledger } from '../../kernel/assumptions.ts'
import { counted } from '../../kernel/words.ts'
import type { Ended } from './exec-child.ts'
import { type FaultCount, type OperationCount, OUTCOMES, type Tally, type Unexpected } from './exec-tally.ts'
import { printable } from './print.ts'

/** What a run has come to. The line of `exec --json` is this. */
export interface Summary {
  readonly command: readonly string[]
  readonly exit_code: number
  /** What killed the command; null when it ended by itself. */
  readonly signal: string | null
  /** Real milliseconds that the command took. */
  readonly duration_ms: number
  readonly base_url: string
  readonly requests: number
  readonly operations: readonly OperationCount[]
  readonly faults: readonly FaultCount[]
  /** Those that the header X-Emulator-Assumed names, the most used ones first. */
  readonly assumptions: readonly { readonly id: string; readonly used: number; readonly open: string }[]
  /** Answers with 5xx that nobody has asked for: how many, and the first of them. */
  readonly unexpected: { readonly total: number; readonly data: readonly Unexpected[] }
}

/** What is known of a run besides its tally. */
export interface Run {
  readonly command: readonly string[]
  readonly ended: Ended
  readonly duration: number
  readonly baseUrl: string
}

export function summaryOf(run: Run, tally: Tally, { items }: Ledger): Summary {
  const { operations, faults, unexpected } = tally
  const { code, signal } = run.ended
  return {
    command: run.command,
    exit_code: code,
    signal,
    duration_ms: run.duration,
    base_url: run.baseUrl,
    requests: operations.reduce((sum, { total }) => sum + total, 0),
    operations,
    faults,
    assumptions: tally.assumed.flatMap(([id, used]) => {
      const item = items.get(id)
      return item?.shows === 'answer' ? [{ id, used, open: item.open }] : []
    }),
    unexpected,
  }
}

/** Rows of one table; there is a limit to the size of a step's summary. */
const MOST_ROWS = 50

/** Assumptions that are shown, the most used ones. */
const MOST_ASSUMPTIONS = 10

/** Characters of a text that others have chosen. */
const LONGEST = 200

/** A summary in Markdown, as the page of a workflow run shows it. */
export function markdownOf(summary: Summary): string {
  const { command, exit_code, signal, duration_ms, requests } = summary
  const end = signal === null ? `ended with ${exit_code}` : `was ended by ${signal} (${exit_code})`
  const time = `${(duration_ms / 1000).toFixed(1)} s`
  const some = `${counted(requests, 'request')} to the emulator in ${time}.`
  const none = `No request came to the emulator in ${time}. Does the command read \`WORKSPACE_BASE_URL\`?`
  return [
    `### ${span(command.join(' '))} ${end}`,
    requests === 0 ? none : some,
    operationTable(summary.operations),
    section(
      'Faults',
      ['rule', 'armed', 'fired', 'never fired'],
      summary.faults.map(({ id, armed, fired, never_fired }) => [code(id), armed, fired, never_fired]),
    ),
    section(
      'Assumptions that answers rested on',
      ['item', 'answers', 'what the specification leaves open'],
      summary.assumptions.slice(0, MOST_ASSUMPTIONS).map(({ id, used, open }) => [id, used, escaped(open)]),
      summary.assumptions.length,
    ),
    section(
      'Unexpected server errors',
      ['request', 'status', 'detail'],
      summary.unexpected.data.map(({ method, path, status, detail }) => [
        code(`${method} ${path}`),
        status,
        code(detail),
      ]),
      summary.unexpected.total,
    ),
  ]
    .filter((part) => part !== '')
    .map((part) => `${part}\n`)
    .join('\n')
}

type Cell = string | number

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
  rows: readonly (readonly Cell[])[],
  total = rows.length,
): string {
  if (rows.length === 0) return ''
  const shown = rows.slice(0, MOST_ROWS)
  const lines = [head, head.map(() => '---'), ...shown].map((cells) => `| ${cells.join(' | ')} |`)
  const more = total > shown.length ? [`\nand ${total - shown.length} more`] : []
  return [...(title === '' ? [] : [`**${title}**\n`]), ...lines, ...more].join('\n')
}

// In a cell a bar ends it, also within a code span, unless a backslash stands before it; elsewhere that would be shown.
function code(text: string): string {
  return span(text).replaceAll('|', '\\|')
}

// What users have named may hold anything, also what ends a code span.
function span(text: string): string {
  const plain = printable(text.length > LONGEST ? `${text.slice(0, LONGEST)}...` : text)
  if (plain === '') return ''
  const fence = '`'.repeat(1 + Math.max(0, ...[...plain.matchAll(/`+/g)].map(([run]) => run.length)))
  const room = fence.length > 1 ? ' ' : ''
  return `${fence}${room}${plain}${room}${fence}`
}

function escaped(text: string): string {
  return text.replaceAll(/[|<>`*_[\]\\]/g, '\\$&')
}
