import { findingsFrom } from '../../core/conduct/finding-lines.ts'
import type { FaultDraft } from '../../core/faults/rule.ts'
import type { LogEntry } from '../../core/log/request-log.ts'
import type { Service } from '../../core/service.ts'
import { formatDuration } from '../../core/time/instant.ts'
import { deliveries } from '../../core/webhooks/records.ts'
import { counted } from '../../core/words.ts'
import { evolved, isObeyingRetryAfter } from '../certify/case.ts'
import { isCutOrOpen } from '../certify/verdicts.ts'
import type { Trial } from './trial.ts'

/** The kinds of failures, the worst first. The last one can be right: a client has to give up at some time. */
export const KINDS = ['hang', 'crash', 'duplicate', 'wrong result', 'conduct', 'clear error'] as const
export type FailureKind = (typeof KINDS)[number]

/** What is wrong after one run. */
export interface HuntFailure {
  readonly kind: FailureKind
  readonly message: string
  /** The verdicts on the conduct of the client that the run without faults does not have, as `severity code`. */
  readonly conduct: readonly string[]
  /** What failures of the same kind have in common when they are the same defect. */
  readonly defect: string
}

/** A run with the faults of the command, and what it is compared with. */
export interface RunComparison {
  readonly clean: Trial
  readonly rules: readonly FaultDraft[]
  /** Real milliseconds after which the run was ended. */
  readonly limit: number
  /** The defects that were found before: of several verdicts on conduct, one that is new counts. */
  readonly known: ReadonlySet<string>
}

/** The worst failure of a run; undefined if the command passes as it does without faults. */
export function failureOf(trial: Trial, comparison: RunComparison): HuntFailure | undefined {
  const all = newConduct(trial, comparison)
  const conduct = all.map(({ severity, code }) => `${severity} ${code}`)
  for (const kind of KINDS) {
    const message = kind === 'conduct' ? all[0]?.message : CHECKS[kind](trial, comparison)
    if (message === undefined) continue
    const defect = (kind === 'conduct' && all[0]?.defect) || defectIn(message, trial)
    return { kind, message, conduct, defect }
  }
  return undefined
}

/**
 * A message without what differs from run to run: numbers, names of records, and which JSON is bad. A client that reads the
 * bodies of two operations badly has two defects: one may be a body that ends too early, the other a stream that is cut into
 * lines at the wrong place.
 */
function defectIn(message: string, { entries }: Trial): string {
  return message
    .replaceAll(/[\da-f]{6,}|\d+/g, '#')
    .replace(/(?<=(?:SyntaxError|JSONDecodeError): ).*/, `in ${entries.at(-1)?.operation}`)
}

type Check = (trial: Trial, comparison: RunComparison) => string | undefined

/** For each kind: a sentence about the failure, or undefined. */
const CHECKS: Readonly<Record<Exclude<FailureKind, 'conduct'>, Check>> = {
  hang: ({ isLate, entries }, { limit }) => {
    const last = entries.at(-1)
    if (!isLate || isObeyingRetryAfter(last, limit)) return undefined
    const about =
      last === undefined
        ? 'It had sent no request.'
        : `Its last request was ${last.method} ${last.path}, ${isCutOrOpen(last) ? 'which has no whole response' : `with the status ${last.status}`}.`
    return `The command still ran after ${formatDuration(limit)}. ${about}`
  },
  crash: ({ signal, isLate, exit_code, errors }) => {
    if (isLate || exit_code === 0) return undefined
    const defect = errors.find(({ kind }) => kind === 'crash')?.message
    return defect ?? (signal === null ? undefined : `The command was ended by ${signal}.`)
  },
  duplicate: (trial, { clean }) => {
    const [before, now] = [creations(clean), creations(trial)]
    // Bodies with a random part differ from run to run: they are compared with all of the operation.
    const usual = (key: string, operation: string) => {
      const counts = [...before.values()].filter((each) => each.operation === operation)
      return before.get(key)?.count ?? counts.reduce((most, { count }) => Math.max(most, count), 1)
    }
    const found = [...now].find(([key, { operation, count }]) => count > usual(key, operation))
    if (found === undefined) return undefined
    const [key, { operation, count }] = found
    return `${operation} with the same content took effect ${counted(count, 'time')}, without faults ${counted(usual(key, operation), 'time')}.`
  },
  'wrong result': (trial, { clean, rules }) => {
    if (trial.isLate || rules.some((rule) => changesData(rule, trial.service))) return undefined
    if (trial.exit_code !== 0) return trial.errors.find(({ kind }) => kind === 'wrong result')?.message
    const [before, now] = [perOperation(clean), perOperation(trial)]
    const [lost] = [...before].filter(([operation, count]) => (now.get(operation) ?? 0) < count)
    if (lost === undefined) return undefined
    const [operation, count] = lost
    return `The command passed, although ${operation} took effect ${counted(now.get(operation) ?? 0, 'time')} instead of ${count}.`
  },
  'clear error': ({ exit_code, isLate, errors: [first] }, { limit }) => {
    if (isLate)
      return `The command still waited after ${formatDuration(limit)}, as the last response had asked.`
    if (exit_code === 0) return undefined
    return first?.message ?? `The command ended with the exit code ${exit_code}.`
  },
}

/** The errors and warnings about the client that the run without faults does not have: first those that were not found before. */
function newConduct({ findings, exit_code, isLate, entries }: Trial, { clean, known, rules }: RunComparison) {
  const operation = entries.find((entry) => entry.tomorrow)?.operation
  const isGivenUp = operation && exit_code && !isLate && rules.every(({ preset }) => preset === 'tomorrow')
  const message = 'The command failed, although the response had only what a later version may change.'
  const gaveUp = isGivenUp ? evolved({ message, requests: [], evidence: { exit_code } }) : []
  const usual = new Set(clean.findings.map(({ code }) => code))
  const all = findingsFrom([...findings, ...gaveUp.map((each) => ({ ...each, operation }))], 'warning')
    .filter(({ code }) => !usual.has(code))
    .map((each) => ({ ...each, defect: `${each.code} at ${each.operation}` }))
  return all.sort((a, b) => Number(known.has(a.defect)) - Number(known.has(b.defect)))
}

/** How often each request that creates records has done so, by its operation and content. */
function creations({ entries }: Trial) {
  const counts = new Map<string, { readonly operation: string; readonly count: number }>()
  for (const entry of entries.filter(hasCreated)) {
    const { operation = '', path, body } = entry
    const key = JSON.stringify([operation, path, body.kind === 'json' ? body.value : null])
    counts.set(key, { operation, count: (counts.get(key)?.count ?? 0) + 1 })
  }
  return counts
}

function perOperation(trial: Trial): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { operation, count } of creations(trial).values())
    counts.set(operation, (counts.get(operation) ?? 0) + count)
  return counts
}

function hasCreated({ method, operation, commit, idempotency }: LogEntry): boolean {
  if (operation === undefined || method === 'GET' || idempotency === 'replay') return false
  const created =
    commit?.changes.filter(({ before, after }) => before === undefined && after !== undefined) ?? []
  // The emulator's own tables, such as that of counters of faults, begin with $.
  return created.some(({ table }) => !table.startsWith('$') && table !== deliveries.name)
}

/** Whether a fault changes what is true, so that a correct client has other results too. */
function changesData({ preset = '', do: actions }: FaultDraft, service: Service): boolean {
  const { do: known = [], actions: named = {} } = service.presets.get(preset) ?? {}
  return [...(actions ?? known), ...Object.values(named).flat()].some((action) => {
    return (
      'state' in action ||
      ('deliver' in action && (action.deliver.drop || action.deliver.delay !== undefined))
    )
  })
}
