import { computed } from '@preact/signals'
import { groupBy } from '../core/conduct/observed.ts'
import { ask, type Output } from './api.ts'
import { countOf, durationText, shortPath } from './format.ts'
import { sharedLive } from './loaded.tsx'
import { logRows } from './requests.ts'
import { Tag } from './ui.tsx'

type ShownFinding = Output<'GET /conduct'>['data'][number]

/** The report on the conduct of the clients, for every part of the page that shows it. */
export const useConduct = sharedLive(() => ask('GET /conduct'), ['request', 'event'])

const LOOKS = { error: ['error', 'error'], warning: ['warn', 'warn'], note: ['neutral', 'info'] } as const

export function SeverityTag({ severity, text }: { severity: keyof typeof LOOKS; text?: string }) {
  const [tone, icon] = LOOKS[severity]
  return (
    <Tag tone={tone} icon={icon}>
      {text ?? severity}
    </Tag>
  )
}

const rowsById = computed(() => new Map(logRows.value.entries.map((row) => [row.id, row])))

/**
 * The requests of a finding that the log still has, with milliseconds: `at` since the first one, by the clock of the finding;
 * `waited` until the next one; `promised` is the wait that the response asked for, and `lack` what is missing of it.
 */
export function attemptsOf({ code, requests, evidence }: ShownFinding) {
  const rows = requests.flatMap((id) => rowsById.value.get(id) ?? [])
  const isReal = evidence.clock === 'real' || rows.every(({ at }) => at === rows[0]?.at)
  const times = rows.map(({ at, evidence }) => (isReal && evidence?.arrived_ms) || Date.parse(at))
  return rows.map((row, n) => {
    const [at = 0, next] = [times[n], times[n + 1]]
    const waited = next === undefined ? undefined : next - at
    const isRefused = code.startsWith('wait.') && (row.status === 429 || row.status === 503)
    const asked = (row.admission.retry_after ?? Number(evidence.promised_ms) / 1_000) * 1_000
    const promised = isRefused && waited !== undefined && asked > 0 ? asked : undefined
    return { row, at: at - (times[0] ?? 0), waited, promised, lack: (promised ?? 0) - (waited ?? 0) }
  })
}

type CallAttempt = ReturnType<typeof attemptsOf>[number]

/** The attempt after which most of the promised wait was missing; undefined if no wait was too short. */
export const worstOf = (attempts: readonly CallAttempt[]): CallAttempt | undefined =>
  attempts.filter(({ lack }) => lack > 0).sort((a, b) => b.lack - a.lack)[0]

/** A wait in words: `200 ms of 2 s`. */
export const waitText = ({ waited = 0, promised }: CallAttempt) =>
  promised === undefined ? durationText(waited) : `${durationText(waited)} of ${durationText(promised)}`

/** The findings with one verdict about one operation, the most severe first. */
export function groupsOf(findings: readonly ShownFinding[]) {
  const operationOf = ({ requests: [id = ''] }: ShownFinding) => {
    const row = rowsById.value.get(id)
    return row?.operation ?? (row === undefined ? '' : `${row.method} ${shortPath(row.path)}`)
  }
  const groups = groupBy(findings, (each) => `${each.severity} ${each.code} ${operationOf(each)}`.trim())
  return [...groups].map(([filter, group]) => {
    const [first] = group
    const worst = worstOf(group.flatMap(attemptsOf))
    const most = group.reduce((most, { requests }) => Math.max(most, requests.length), 0)
    const many = most === 0 ? countOf(group.length, 'finding') : countOf(most, 'request')
    const words = worst === undefined ? many : `waited ${waitText(worst)}`
    return { ...first, operation: operationOf(first), findings: group, filter, worst: words }
  })
}
