import type { AssumptionCatalog } from '../../core/assumptions.ts'
import { type FaultCounter, faultCounters, faultRules } from '../../core/faults/rule.ts'
import type { LogEntry } from '../../core/log/request-log.ts'
import type { Sandbox } from '../../core/sandboxes/sandbox.ts'
import type { Change } from '../../core/state/commit.ts'
import { counted } from '../../core/words.ts'
import type { Ended } from './exec-child.ts'
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

/** The counts of the fault rules with one id, in all sandboxes. */
interface FaultCount {
  readonly id: string
  /** How often it was armed; each sandbox arms its own rule. */
  readonly armed: number
  readonly fired: number
  /** How many of the armed rules never fired. */
  readonly never_fired: number
}

/** A response that must come from a defect of the emulator, or from a problem of its disk. */
interface Unexpected {
  readonly id: string
  readonly method: string
  readonly path: string
  readonly status: number
  readonly detail: string
}

/** Unexpected responses that the summary lists; a run may have any number of them. */
const MAX_UNEXPECTED = 10

/** Counts the requests, faults and assumptions of a run in all sandboxes of an emulator, deleted ones included. */
export class Tally {
  readonly #operations = new Map<string | null, Map<Outcome, number>>()
  readonly #assumed = new Map<string, number>()
  readonly #faults = new Map<string, { armed: number; fired: number; never_fired: number }>()
  readonly #unexpected: Unexpected[] = []
  #unexpectedTotal = 0

  /** Counts the events of a sandbox from now on. */
  watch(sandbox: Sandbox): void {
    const armed = new Map(sandbox.faults.rules.map(({ id }) => [id, 0]))
    sandbox.log.onEntry((entry) => this.#count(entry))
    sandbox.store.onCommit(({ changes }) => {
      for (const change of changes) this.#follow(sandbox, change, armed)
    })
    sandbox.onClosed(() => {
      for (const [id, fired] of armed) this.#disarmed(id, fired)
      armed.clear()
    })
  }

  /** In the order in which operations were first called. */
  get operations(): OperationCount[] {
    return [...this.#operations].map(([operation, outcomes]) => ({
      operation,
      total: [...outcomes.values()].reduce((sum, n) => sum + n, 0),
      outcomes: Object.fromEntries(OUTCOMES.flatMap((each) => entryOf(outcomes, each))),
    }))
  }

  /** The counts of removed rules and of the rules of closed sandboxes, so they are complete when the emulator is closed. */
  get faults(): FaultCount[] {
    return [...this.#faults].map(([id, counts]) => ({ id, ...counts }))
  }

  /** The number of responses that rely on each assumption that responses can name, the most used ones first. */
  get assumed(): readonly (readonly [id: string, responses: number])[] {
    return [...this.#assumed].sort(([a, n], [b, m]) => m - n || (a < b ? -1 : 1))
  }

  /** The first ten unexpected responses, and the total number. */
  get unexpected(): { readonly total: number; readonly data: readonly Unexpected[] } {
    return { total: this.#unexpectedTotal, data: this.#unexpected }
  }

  #count(entry: LogEntry): void {
    const { operation = null, assumed, faults } = entry
    const outcomes = this.#operations.get(operation) ?? new Map<Outcome, number>()
    this.#operations.set(operation, outcomes)
    add(outcomes, outcomeOf(entry))
    for (const id of assumed) add(this.#assumed, id)
    // Rules from magic values of a request are in no table.
    for (const { rule } of faults?.fired ?? []) if (rule.source === 'magic') this.#disarmed(rule.id, 1)
    if (isUnexpected(entry)) this.#keep(entry)
  }

  #keep({ id, method, path, status, error }: LogEntry): void {
    this.#unexpectedTotal += 1
    if (this.#unexpected.length >= MAX_UNEXPECTED) return
    this.#unexpected.push({ id, method, path, status, detail: error?.detail ?? '' })
  }

  #follow({ store }: Sandbox, { table, id, before, after }: Change, armed: Map<string, number>): void {
    if (table === faultCounters.name) {
      const [was, is] = [before as FaultCounter | undefined, after as FaultCounter | undefined]
      const fired = is === undefined || is.key !== null ? 0 : is.fired - (was?.fired ?? 0)
      if (is !== undefined && fired > 0) armed.set(is.rule, (armed.get(is.rule) ?? 0) + fired)
      // A rule that still exists after its counters were removed was reset.
      if (is === undefined && was?.key === null && store.get(faultRules.name, was.rule) !== undefined) {
        this.#disarmed(was.rule, armed.get(was.rule) ?? 0)
        armed.set(was.rule, 0)
      }
    }
    if (table !== faultRules.name) return
    if (before === undefined && !armed.has(id)) armed.set(id, 0)
    if (after === undefined) {
      this.#disarmed(id, armed.get(id) ?? 0)
      armed.delete(id)
    }
  }

  #disarmed(id: string, fired: number): void {
    const counts = this.#faults.get(id) ?? { armed: 0, fired: 0, never_fired: 0 }
    counts.armed += 1
    counts.fired += fired
    if (fired === 0) counts.never_fired += 1
    this.#faults.set(id, counts)
  }
}

function outcomeOf({ status }: LogEntry): Outcome {
  if (status === 0) return 'cut'
  return OUTCOMES.find((each) => each === `${Math.floor(status / 100)}xx`) ?? 'other'
}

// Responses of faults, stubs and endpoints without a contract are expected.
function isUnexpected({ status, faults, stubbed, error }: LogEntry): boolean {
  if (status < 500 || stubbed !== undefined || (faults?.fired ?? []).length > 0) return false
  return error?.code !== 'emulator_contract_unspecified'
}

function add<K>(counts: Map<K, number>, key: K): void {
  counts.set(key, (counts.get(key) ?? 0) + 1)
}

function entryOf<K>(counts: ReadonlyMap<K, number>, key: K): [K, number][] {
  const count = counts.get(key)
  return count === undefined ? [] : [[key, count]]
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
  readonly faults: readonly FaultCount[]
  /** The assumptions that the header X-Emulator-Assumed names, the most used ones first. */
  readonly assumptions: readonly { readonly id: string; readonly used: number; readonly open: string }[]
  /** Responses with 5xx that no fault or stub explains: their number, and the first ten. */
  readonly unexpected: { readonly total: number; readonly data: readonly Unexpected[] }
}

/** The facts of a run besides its tally. */
interface Run {
  readonly command: readonly string[]
  readonly ended: Ended
  readonly duration: number
  readonly baseUrl: string
}

export function summaryOf(run: Run, tally: Tally, { items }: AssumptionCatalog): Summary {
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
      return item?.reportedIn === 'response' ? [{ id, used, open: item.open }] : []
    }),
    unexpected,
  }
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
      'Assumptions that responses rely on',
      ['item', 'responses', 'what the specification leaves open'],
      summary.assumptions.slice(0, MAX_ASSUMPTIONS).map(({ id, used, open }) => [id, used, escaped(open)]),
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
  if (plain === '') return ''
  const fence = '`'.repeat(1 + Math.max(0, ...[...plain.matchAll(/`+/g)].map(([run]) => run.length)))
  const space = fence.length > 1 ? ' ' : ''
  return `${fence}${space}${plain}${space}${fence}`
}

function escaped(text: string): string {
  return text.replaceAll(/[|<>`*_[\]\\]/g, '\\$&')
}
