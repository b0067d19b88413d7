import type { Finding } from '../../core/conduct/finding.ts'
import { findingsFrom } from '../../core/conduct/finding-lines.ts'
import { groupBy, observe } from '../../core/conduct/observed.ts'
import { conductOf } from '../../core/conduct/report.ts'
import { MAX_WAIT } from '../../core/conduct/retry.ts'
import { verdicts } from '../../core/conduct/verdicts.ts'
import type { LogEntry } from '../../core/log/request-log.ts'
import { formatDuration } from '../../core/time/instant.ts'
import { later } from '../../core/time/realtime.ts'
import { deliveries } from '../../core/webhooks/records.ts'
import { OUTCOMES } from '../../service/client-tasks.ts'
import { OK } from '../../terminal/command.ts'
import { type CaseStage, CLIENT_TIMEOUT, onStage, type Setup, startClient } from '../client-process.ts'
import { type Concluded, conclusions, prepared } from './commands.ts'
import type { Case } from './programme.ts'
import { conclusionVerdicts, isCutOrOpen, uses } from './verdicts.ts'

/** The least severe findings that make a case fail. */
export const SERIOUS = 'warning'

/** The most characters of standard error in a report. */
const MAX_STDERR = 2_000

/** What is known about a client after one case. */
export type CaseOutcome = Awaited<ReturnType<typeof runCase>>

/** Runs the client once, while its requests meet the failures of a case, and judges it. */
export function runCase(setup: Setup, each: Case) {
  const { adapter } = setup.options
  const settings = { ...(adapter && OUTCOMES), ...(each.tomorrow && { tomorrow: { only: [each.tomorrow] } }) }
  return onStage(setup, each, settings, async (stage) => {
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
      const entries = stage.sandbox.log.entries()
      const isOk = judgement.result === 'passed' && entries.every(({ status }) => status < 400)
      const message = `The client ended with ${code}, although all of its requests succeeded.`
      const gaveUp = each.tomorrow && isOk && code !== OK && evolved({ message, requests: [], evidence: {} })
      const ended = adapter || client.isLate() ? [] : gaveUp || crashIn(code, output)
      return {
        ...judgement,
        ...(gaveUp && ended === gaveUp && { result: 'failed' as const }),
        findings: [...judgement.findings, ...ended] as readonly Finding[],
        sent: sentIn(entries),
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

/** Verdicts about something missing. They do not hold for one that was ended while it waited. */
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
  const stuck = isLate && !data.some(({ code }) => code === 'timeout.body') ? stuckIn(last, limit) : []
  // A valid response that is refused is only unusual by what is new in it.
  const isRefusal = ({ code }: Finding) => each.tomorrow !== undefined && code !== 'result.wrong'
  const answers = (concluded?.findings ?? []).flatMap((one) => (isRefusal(one) ? evolved(one) : one))
  const findings: readonly Finding[] = [...answers, ...data, ...stuck]
  if (findingsFrom(findings, SERIOUS).length > 0) return { result: 'failed', reason: null, findings } as const
  const rules = await client.faults.list()
  const fired = rules.reduce((sum, rule) => sum + rule.fired, 0)
  const isOver = rules.every(({ times, when }) => when?.sequence || (times ?? Infinity) <= fired)
  const isNew = entries.some((entry) => entry.tomorrow) || sandbox.store.rows(deliveries.name).size > 0
  const isMet = !each.tomorrow || isNew || (each.webhook && concluded)
  // Why the case was not reached; null when it was.
  const reason =
    (concluded?.unsupported && `The adapter does not support ${concluded.unsupported}.`) ??
    notReached(each, fired, entries) ??
    (isMet ? undefined : 'Nothing was new: no response or webhook had this change.') ??
    (isLate
      ? isObeyingRetryAfter(last, limit)
        ? null
        : `The client still ran after ${formatDuration(limit)}, and no response had told it to wait. Raise --timeout, or shorten its pauses.`
      : unserved(each, entries, isOver && retries !== 0))
  return { result: reason === null ? 'passed' : 'not_reached', reason, findings } as const
}

/** Why a call that met the failures of a case never succeeded, although it could; null when it did. */
function unserved({ faults }: Case, entries: readonly LogEntry[], mayRepeat: boolean): string | null {
  const requests = entries.map((entry, n) => observe(entry, undefined, n))
  const paths = [...groupBy(requests, ({ name }) => name).values()]
  const failed = paths.filter((path) => path.every(({ outcome }) => outcome !== 'success'))
  const last = failed.find((path) => path.some(({ isFaulted }) => isFaulted))?.at(-1)
  // A key that has become invalid stays so.
  if (last === undefined || uses(faults, (action) => 'auth' in action)) return null
  const ended = `${last.name} never succeeded: it ended with ${last.ending}`
  if (!last.isFaulted) return `${ended}, which is no failure of the case.`
  // What has taken effect must not be repeated without a key.
  const isSafe = last.key !== undefined || last.created.length === 0
  const canSucceed = mayRepeat && last.hasFailed && last.wait <= MAX_WAIT && isSafe
  const fix = 'Repeat it, or declare --retries 0 for a client that never does.'
  return canSucceed ? `${ended}, and the client gave up. ${fix}` : null
}

/** The requests of a log, the first five kinds of them: `3 x GET /v1/pages 401`. */
function sentIn(entries: readonly LogEntry[]): readonly string[] {
  const requests = entries.map((entry, n) => observe(entry, undefined, n))
  const kinds = groupBy(requests, ({ name, ending }) => `${name} ${ending}`)
  return [...kinds].slice(0, 5).map(([text, { length }]) => `${length} x ${text}`)
}

/** The finding about a client that gives up a call because of what is new in its response. */
export function evolved({ message, requests, evidence }: Pick<Finding, 'message' | 'requests' | 'evidence'>) {
  const verdict = verdicts.filter(({ code }) => code === 'evolve.unknown-value')
  return verdict.map(({ description: _, ...each }): Finding => ({ ...each, message, requests, evidence }))
}

/** How runtimes begin or end the report of a crash. */
const CRASH = /^(?:Traceback \(most recent|panic: |thread '.*' panicked|Exception in thread|Node\.js v\d)/m

/** The note about a client whose process has crashed. */
function crashIn(exit_code: number, output: string): Finding[] {
  if (exit_code === OK || !CRASH.test(output)) return []
  const line = output.split('\n').findLast((each) => /^\S*(?:Error|Exception|panic)\b/.test(each)) ?? ''
  const message = `The process crashed, and ended with ${exit_code}. ${line}`.trimEnd()
  const note = { severity: 'note', message, requests: [], evidence: { exit_code } } as const
  const verdict = conclusionVerdicts.filter(({ code }) => code === 'client.ended')
  return verdict.map(({ code, section, fix }) => ({ code, section, fix, ...note }))
}

/** Why the failures of a case have not all happened; undefined when they have. */
function notReached({ rule, faults, hasKey }: Case, fired: number, entries: readonly LogEntry[]) {
  if (rule === undefined) return undefined
  if (fired === 0) return 'The fault never fired: the client sent no such request.'
  if (fired < faults.length)
    return `Only ${fired} of ${faults.length} failures happened: the client sent no further request that they match.`
  const hit = entries.filter((entry) => (entry.faults?.fired.length ?? 0) > 0)
  const isMet = hit.some(({ headers }) => (headers['idempotency-key'] !== undefined) === hasKey)
  return hasKey === undefined || isMet ? undefined : `The create had ${hasKey ? 'no' : 'an'} Idempotency-Key.`
}

/** Waits a little for the connections of a process that has ended: they may close later. */
export async function settled(entries: readonly LogEntry[]): Promise<void> {
  let looks = 20
  while (looks-- > 0 && entries.some(({ timing }) => timing?.took === undefined))
    await new Promise<void>((resolve) => void later(10, resolve))
}

/** Whether the last response told the client to wait for longer than the limit: it is then right to wait. */
export function isObeyingRetryAfter(last: LogEntry | undefined, limit: number): boolean {
  return last !== undefined && observe(last, undefined, 0).wait > limit / 2
}

/** The finding about a client that waited for the rest of a response until it was ended, and so was not seen waiting longer. */
function stuckIn(last: LogEntry | undefined, limit: number): Finding[] {
  if (last === undefined || !isCutOrOpen(last)) return []
  const message = `After ${formatDuration(limit)} the client still waited for the rest of a response; WORKSPACE_CERTIFY_TIMEOUT_MS has a time-out for it.`
  const evidence = { waited_ms: limit, timeout_ms: CLIENT_TIMEOUT }
  const verdict = verdicts.filter(({ code }) => code === 'timeout.body')
  return verdict.map(({ description: _, ...each }) => ({ ...each, message, requests: [last.id], evidence }))
}
