import { loggedOperation } from '../explain/limits.ts'
import { list } from '../fields.ts'
import type { LogEntry } from '../log/request-log.ts'
import type { Sandbox } from '../sandboxes/sandbox.ts'
import { counted } from '../words.ts'
import { callsOf } from './calls.ts'
import { type ConductReport, type Finding, SEVERITIES } from './finding.ts'
import { observe } from './observed.ts'
import { families } from './verdicts.ts'

/** The part of a report that is wanted. */
export interface JudgeOptions {
  /** How often the clients repeat a failed call. Without it, a client that does not retry is right. */
  readonly retries?: number | undefined
  /** Codes of verdicts that do not count. */
  readonly except?: readonly string[] | undefined
}

/** The verdicts on requests of the log of a sandbox, oldest first. The same log has the same report. */
export function conductOf(
  sandbox: Sandbox,
  entries: readonly LogEntry[],
  { retries, except = [] }: JudgeOptions = {},
): ConductReport {
  const requests = entries
    .filter(({ cors }) => cors?.isPreflight !== true)
    .map((entry, index) => observe(entry, loggedOperation(sandbox, entry), index))
  const calls = callsOf(requests, sandbox)
  const skipped = new Set<string>()
  const skip = (reason: string) => void skipped.add(reason)
  const { dropped } = sandbox.log
  if (dropped > 0)
    skip(`The log has dropped ${counted(dropped, 'request')}: verdicts that need them are missing.`)
  const all = families.flatMap(({ judge }) => judge({ requests, calls, retries, sandbox, skip }))
  const unknown = requests.filter(({ arrived }) => arrived === undefined).length
  if (unknown > 0) skip(`${counted(unknown, 'request')} came without HTTP: how they ended was not judged.`)
  const positions = new Map(requests.map(({ id, index }) => [id, index]))
  const firstOf = ({ requests: [first = ''] }: Finding) => positions.get(first) ?? requests.length
  const rankOf = ({ severity }: Finding) => SEVERITIES.indexOf(severity)
  const findings = all.filter(({ code }) => !except.includes(code))
  return {
    ...list(findings.sort((a, b) => rankOf(a) - rankOf(b) || firstOf(a) - firstOf(b))),
    judged: { calls: calls.length, requests: requests.length, dropped },
    not_judged: [...skipped],
  }
}
