import { computed } from '@preact/signals'
import { ask, type Output } from './api.ts'
import { countOf, durationText, shortPath } from './format.ts'
import { sharedLive } from './loaded.tsx'
import { type LogRow, logRows } from './requests.ts'
import { Tag, type Tone } from './ui.tsx'

export type ShownFinding = Output<'GET /conduct'>['data'][number]

/** The report on the conduct of the clients, for every part of the page that shows it. */
export const useConduct = sharedLive(() => ask('GET /conduct'), ['request', 'event'])

/** A finding keeps its address while requests are added after it. */
export const findingId = ({ code, requests, message }: ShownFinding) => `${code} ${requests[0] ?? message}`

const TONES: Readonly<Record<ShownFinding['severity'], Tone>> = {
  error: 'error',
  warning: 'warn',
  note: 'neutral',
}

export function SeverityTag({
  severity,
  text = severity,
}: {
  severity: ShownFinding['severity']
  text?: string
}) {
  return (
    <Tag tone={TONES[severity]} icon={severity === 'note' ? 'info' : undefined}>
      {text}
    </Tag>
  )
}

const rowsById = computed(() => new Map(logRows.value.entries.map((row) => [row.id, row])))

/** One request of a call, and the wait after it. */
export interface CallAttempt {
  readonly row: LogRow
  /** Milliseconds since the first attempt, by the clock of the finding. */
  readonly at: number
  /** Milliseconds to the next attempt, and those that its response asked for; undefined without a next one or a promise. */
  readonly waited: number | undefined
  readonly promised: number | undefined
}

/** The requests of a finding that the log still has, on a scale that begins with the first one. */
export function attemptsOf({ code, requests, evidence }: ShownFinding): readonly CallAttempt[] {
  const rows = requests.flatMap((id) => rowsById.value.get(id) ?? [])
  const virtual = rows.map((row) => Date.parse(row.at))
  const isReal = evidence.clock === 'real' || new Set(virtual).size === 1
  const times = isReal ? rows.map((row, n) => row.evidence?.arrived_ms ?? (virtual[n] as number)) : virtual
  return rows.map((row, n) => {
    const [at = 0, next] = [times[n], times[n + 1]]
    const isRefused = code.startsWith('wait.') && (row.status === 429 || row.status === 503)
    const { retry_after: seconds } = row.admission
    const promised = seconds === null ? Number(evidence.promised_ms) : seconds * 1_000
    return {
      row,
      at: at - (times[0] ?? 0),
      waited: next === undefined ? undefined : next - at,
      promised: isRefused && next !== undefined && promised > 0 ? promised : undefined,
    }
  })
}

/** The findings with one verdict about one operation, the most severe first. */
export interface ConductGroup extends Pick<ShownFinding, 'code' | 'severity'> {
  readonly operation: string
  readonly findings: readonly ShownFinding[]
  /** In words. */
  readonly worst: string
}

export function groupsOf(findings: readonly ShownFinding[]): readonly ConductGroup[] {
  const groups = new Map<string, ShownFinding[]>()
  const operationOf = ({ requests }: ShownFinding) => {
    const row = rowsById.value.get(requests[0] ?? '')
    return row?.operation ?? (row === undefined ? '' : `${row.method} ${shortPath(row.path)}`)
  }
  for (const each of findings) {
    const key = `${each.severity} ${each.code} ${operationOf(each)}`
    groups.set(key, [...(groups.get(key) ?? []), each])
  }
  return [...groups.values()].map((group) => {
    const [{ code, severity }] = group as [ShownFinding]
    const operation = operationOf(group[0] as ShownFinding)
    return { code, severity, operation, findings: group, worst: worstOf(group) }
  })
}

function worstOf(findings: readonly ShownFinding[]): string {
  const [first] = findings
    .map(({ evidence }) => evidence)
    .filter((each) => Number(each.promised_ms) > 0)
    .sort((a, b) => Number(b.promised_ms) - Number(b.waited_ms) - Number(a.promised_ms) + Number(a.waited_ms))
  if (first !== undefined)
    return `waited ${durationText(Number(first.waited_ms))} of ${durationText(Number(first.promised_ms))}`
  const most = findings.reduce((most, { requests }) => Math.max(most, requests.length), 0)
  return most === 0 ? '' : countOf(most, 'request')
}
