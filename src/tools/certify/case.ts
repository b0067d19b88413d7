import type { Finding } from '../../core/conduct/finding.ts'
import { findingsFrom } from '../../core/conduct/finding-lines.ts'
import { conductOf, observedIn } from '../../core/conduct/report.ts'
import { verdicts } from '../../core/conduct/verdicts.ts'
import type { LogEntry } from '../../core/log/request-log.ts'
import type { Sandbox } from '../../core/sandboxes/sandbox.ts'
import { formatDuration, SECOND } from '../../core/time/instant.ts'
import { later } from '../../core/time/realtime.ts'
import { type CaseStage, CLIENT_TIMEOUT, onStage, type Setup, startClient } from '../client-process.ts'
import { type Concluded, conclusions, OUTCOMES, prepared } from './commands.ts'
import type { Case } from './programme.ts'
import { conclusionVerdicts, isCutOrOpen } from './verdicts.ts'

/** The least severe findings that make a case fail. */
export const SERIOUS = 'warning'

/** The most characters of standard error in a report. */
const MAX_STDERR = 2_000

/** What is known about a client after one case. */
export type CaseOutcome = Awaited<ReturnType<typeof runCase>>

/** Runs the client once, while its requests meet the failures of a case, and judges it. */
export function runCase(setup: Setup, each: Case) {
  const { adapter } = setup.options
  return onStage(setup, each, adapter ? OUTCOMES : {}, async (stage) => {
    const subject = adapter ? await prepared(stage, each.commands) : undefined
    // The requests that prepare the case are not those of the client.
    await stage.client.requests.clear()
    if (each.rule !== undefined) await stage.client.faults.arm(each.rule)
    const client = startClient(setup.command, stage.env, setup.limit, adapter ? 'answers' : 'ignored')
    try {
      const concluded = subject && (await conclusions(client, stage, each, subject))
      if (concluded === undefined) await client.over()
      const judgement = await judged(setup, stage, each, client.isLate(), concluded)
      await client.over()
      const { code, ms, output } = await client.end()
      const crash = adapter || client.isLate() || code === 0 ? [] : crashIn(output)
      return {
        ...judgement,
        findings: [...judgement.findings, ...crash],
        /** Null if the client was ended at its time limit. */
        exit_code: client.isLate() ? null : code,
        /** Real milliseconds. */
        ms,
        /** The end of its standard error. */
        stderr: output.slice(-MAX_STDERR).trimEnd(),
      }
    } finally {
      await client.end().catch(() => {})
    }
  })
}

/** Statements about what a client has not done. They do not hold for one that was ended while it waited. */
const ABSENCES = ['retry.missing', 'page.stopped-early']

/** Judges the requests of a client, with what it concluded. */
async function judged(
  { options: { retries }, limit }: Setup,
  { sandbox, client }: CaseStage,
  each: Case,
  isLate: boolean,
  concluded: Concluded | undefined,
) {
  const entries = sandbox.log.entries()
  const last = entries.at(-1)
  if (!isLate) await settled(entries)
  const except = ['fault.not-met', ...(isLate ? ABSENCES : [])]
  const { data } = conductOf(sandbox, entries, { retries, except })
  const stuck = isLate ? stuckIn(last, limit) : []
  const findings: readonly Finding[] = [...(concluded?.findings ?? []), ...data, ...stuck]
  if (findingsFrom(findings, SERIOUS).length > 0) return { result: 'failed', reason: null, findings } as const
  const fired = (await client.faults.list()).reduce((sum, rule) => sum + rule.fired, 0)
  // Why the case was not reached; null when it was.
  const reason =
    (concluded?.unsupported && `The adapter does not support ${concluded.unsupported}.`) ??
    notReached(each, fired, entries) ??
    (isLate && !waitsAsTold(last, limit)
      ? `The client still ran after ${formatDuration(limit)}, and no response had told it to wait. Raise --timeout, or shorten its pauses.`
      : neverSucceeded(sandbox, entries))
  return { result: reason === null ? 'passed' : 'not_reached', reason, findings } as const
}

/** Why the failures of a case have not all happened; undefined when they have. */
function notReached({ rule, faults, hasKey }: Case, fired: number, entries: readonly LogEntry[]) {
  if (rule === undefined) return undefined
  if (fired === 0) return 'The fault never fired: the client sent no such request.'
  if (fired < faults.length) {
    const last = entries.at(-1)
    const end =
      last === undefined
        ? ''
        : ` Its last request was ${last.method} ${last.path} (${last.status || 'cut off'}).`
    return `Only ${fired} of ${faults.length} failures happened: the client sent no further request that they match.${end}`
  }
  const hit = entries.filter((entry) => (entry.faults?.fired.length ?? 0) > 0)
  const isMet = hit.some(({ headers }) => (headers['idempotency-key'] !== undefined) === hasKey)
  return hasKey === undefined || isMet ? undefined : `The create had ${hasKey ? 'no' : 'an'} Idempotency-Key.`
}

/** Why the client has no result, although it could have one: no attempt of a call that failed has succeeded; null otherwise. */
function neverSucceeded(sandbox: Sandbox, entries: readonly LogEntry[]): string | null {
  const { requests, calls } = observedIn(sandbox, entries)
  const isLost = ({ attempts, last }: (typeof calls)[number]) =>
    attempts.some(({ hasFailed }) => hasFailed) &&
    // A client may be right to give up after a failure, but not to send another request, which the service refuses.
    last.outcome === 'refused' &&
    !last.isFaulted &&
    !requests.some(
      ({ name, outcome, index }) => name === last.name && outcome === 'success' && index > last.index,
    )
  const lost = calls.find(isLost)
  if (lost === undefined) return null
  const { name, entry } = lost.last
  return `No attempt of ${name} succeeded: the service refused the last one with ${entry.status}, without a fault.`
}

/** How standard error of the usual languages shows that a program has crashed. */
const CRASH =
  /^(?:Traceback \(most recent|panic: |Uncaught |Unhandled |Exception in thread|thread '.*' panicked|\s+at .+:\d+:\d+\)?$)/m

/** A note about a client that has ended with an error that nobody caught. */
function crashIn(stderr: string): Finding[] {
  if (!CRASH.test(stderr)) return []
  const line = stderr.trimEnd().split('\n').at(-1) ?? ''
  return conclusionVerdicts
    .filter(({ code }) => code === 'client.ended')
    .map(({ code, section, fix }) => {
      const message = `The process ended with an error that it did not catch: ${line.slice(0, MAX_STDERR)}`
      return { code, severity: 'note', message, requests: [], evidence: {}, section, fix }
    })
}

/** Waits a little for the connections of a process that has ended: they may close later. */
export async function settled(entries: readonly LogEntry[]): Promise<void> {
  let looks = 20
  while (looks-- > 0 && entries.some(({ timing }) => timing?.took === undefined))
    await new Promise<void>((resolve) => void later(10, resolve))
}

/** Whether the last response told the client to wait for longer than the limit: it is then right to wait. */
export function waitsAsTold(last: LogEntry | undefined, limit: number): boolean {
  const { headers = [] } = last?.response?.show() ?? {}
  const value = headers.find(({ name }) => name.toLowerCase() === 'retry-after')?.value ?? ''
  const wait = /^\d+$/.test(value) ? Number(value) * SECOND : Date.parse(value) - Date.parse(last?.at ?? '')
  return wait > limit / 2
}

/** The finding about a client that waited for the rest of a response until it was ended, and so was not seen waiting longer. */
function stuckIn(last: LogEntry | undefined, limit: number): Finding[] {
  if (last === undefined || !isCutOrOpen(last)) return []
  const message = `After ${formatDuration(limit)} the client still waited for the rest of a response; WORKSPACE_CERTIFY_TIMEOUT_MS has a time-out for it.`
  const evidence = { waited_ms: limit, timeout_ms: CLIENT_TIMEOUT }
  return verdicts
    .filter(({ code }) => code === 'timeout.body')
    .map(({ code, severity, section, fix }) => {
      return { code, severity, message, requests: [last.id], evidence, section, fix }
    })
}
