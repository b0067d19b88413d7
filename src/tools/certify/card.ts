import { findingsFrom } from '../../core/conduct/finding-lines.ts'
import { SECOND } from '../../core/time/instant.ts'
import { counted } from '../../core/words.ts'
import { FAILED, OK } from '../../terminal/command.ts'
import { type Line, styled } from '../../terminal/line.ts'
import { NOT_REACHED } from '../exit-codes.ts'
import { type CaseOutcome, SERIOUS } from './case.ts'

/** A case with what is known about the client after it, and the command that repeats it. */
export interface CaseResult extends Omit<CaseOutcome, 'result'> {
  readonly result: CaseOutcome['result'] | 'skipped'
  readonly case: string
  readonly class: string
  /** Names of the presets that its first requests met. */
  readonly faults: readonly string[]
  readonly repeat: string
}

type Certification = ReturnType<typeof cardOf>

/** All results of one client. */
export function cardOf(level: 'A' | 'B', cases: readonly CaseResult[]) {
  const totals = { passed: 0, failed: 0, not_reached: 0, skipped: 0 }
  for (const { result } of cases) totals[result] += 1
  return { object: 'certification', level, cases, totals } as const
}

export function exitCodeOf({ totals }: Certification): number {
  if (totals.failed > 0) return FAILED
  return totals.not_reached > 0 ? NOT_REACHED : OK
}

const STYLES = { passed: 'green', failed: 'red', not_reached: 'yellow', skipped: 'dim' } as const

/** The line of a case, and below it the findings of a failed one. @param width of the longest name */
export function caseLines({ result, reason, stderr, repeat, ...each }: CaseResult, width: number): Line[] {
  const serious = findingsFrom(each.findings, SERIOUS)
  const codes = [...new Set(serious.map(({ code }) => code))].join(', ')
  const word = result === 'failed' ? 'FAILED' : wordFor(result)
  const more = serious.flatMap(({ message, fix }) => [message, `Fix: ${fix}`])
  // What the log of the client shows is never hidden by a reason.
  if (result === 'not_reached') for (const text of each.sent) more.push(`Sent: ${text}`)
  for (const { severity, code, message } of each.findings)
    if (severity === 'note' && (result === 'not_reached' || code === 'client.ended'))
      more.push(`note ${code}: ${message}`)
  if (result !== 'passed' && stderr !== '')
    more.push(`Its standard error ends with: ${stderr.split('\n').at(-1)}`)
  if (result === 'failed') more.push(`Again: ${repeat}`)
  const rest = `${' '.repeat(11 - word.length)}  ${each.case.padEnd(width)}  ${reason ?? codes}`.trimEnd()
  return [[styled(STYLES[result], word), rest], ...more.map((text) => `    ${text}`)]
}

export function totalLine({ totals, cases }: Certification, ms: number): string {
  const counts = Object.entries(totals).filter(([, count]) => count > 0)
  const words = counts.map(([result, count]) => `${count} ${wordFor(result)}`)
  return `${words.join(', ')} of ${counted(cases.length, 'case')} in ${(ms / SECOND).toFixed(1)} s.`
}

function wordFor(result: string): string {
  return result.replace('_', ' ')
}

/** The card as JUnit XML. A case that was not reached is an error, so that no reader takes it for a pass. */
export function junitOf(
  { cases, totals: { failed, not_reached, skipped } }: Certification,
  name: string,
): string {
  const counts = `tests="${cases.length}" failures="${failed}" errors="${not_reached}" skipped="${skipped}"`
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites ${counts}>`,
    `<testsuite name="${xml(name)}" ${counts}>`,
    ...cases.map(testCase),
    '</testsuite>',
    '</testsuites>\n',
  ].join('\n')
}

function testCase({ result, reason, findings, repeat, ms, stderr, ...each }: CaseResult): string {
  const content = findingsFrom(findings, SERIOUS).map(({ code, message, fix }) => {
    return `<failure type="${code}" message="${xml(message)}">${xml(`${fix}\nAgain: ${repeat}`)}</failure>`
  })
  if (result === 'skipped') content.push(`<skipped message="${xml(reason ?? '')}"/>`)
  if (result === 'not_reached') content.push(`<error type="${result}" message="${xml(reason ?? '')}"/>`)
  if (stderr !== '') content.push(`<system-err>${xml(stderr)}</system-err>`)
  const attributes = `classname="certify.${each.class}" name="${each.case}" time="${(ms / SECOND).toFixed(3)}"`
  return `<testcase ${attributes}>${content.join('')}</testcase>`
}

/** A text in XML, which has no form for most control characters. */
export function xml(text: string): string {
  return text
    .replaceAll(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '\ufffd')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}
