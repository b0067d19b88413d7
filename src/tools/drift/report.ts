import type { JsonObject } from '../../core/json.ts'
import { counted } from '../../core/words.ts'
import { FAILED, OK } from '../../terminal/command.ts'
import { xml } from '../certify/card.ts'
import { INCOMPLETE } from '../exit-codes.ts'
import { causeOf, type DriftDifference, type Judged } from './blame.ts'
import { shownValue } from './checks.ts'
import type { LiveResult } from './live.ts'
import type { HarRecording } from './recording.ts'

/** Who can be at fault, in the order of the report, with a title. */
const TITLES = {
  emulator: 'The emulator differs from the document',
  service: 'The service has changed since the recording',
  contract: 'The service differs from the document',
  open: 'Open questions of the specification, which settings decide',
} as const

export type DriftReport = ReturnType<typeof driftReport>

type DriftFinding = DriftReport['findings'][number]

/** The report about recordings. @param live the result of the comparison with the running service */
export function driftReport(
  recordings: readonly HarRecording[],
  { differences, answers, patch }: Judged,
  live?: LiveResult,
) {
  const [not_compared, left_out]: [Record<string, number>, Record<string, number>] = [{}, {}]
  const add = (counts: Record<string, number>, reason: string, count: number): void => {
    counts[reason] = (counts[reason] ?? 0) + count
  }
  let [exchanges, compared] = [0, 0]
  for (const recording of recordings) {
    for (const [reason, count] of Object.entries(recording.leftOut)) add(left_out, reason, count)
    for (const [n, { exchange, isCompared }] of recording.recorded.entries()) {
      if (!isCompared) continue
      const answer = answers.get(recording)?.[n]
      const reason = exchange.missing ?? (typeof answer === 'string' ? answer : undefined)
      exchanges += 1
      compared += reason === undefined ? 1 : 0
      if (reason !== undefined) add(not_compared, reason, 1)
    }
  }
  const all = grouped([...differences, ...(live?.differences ?? [])], patch)
  for (const { blame, request, detail, count } of all)
    if (blame === 'value') add(not_compared, `value that nothing fixes: ${request}: ${detail}`, count)
  const findings = Object.keys(TITLES).flatMap((each) => all.filter(({ blame }) => blame === each))
  const files = recordings.map(({ file, base }) => ({ file, base }))
  return {
    ...{ object: 'drift', files, exchanges, compared, findings, not_compared, left_out },
    ...{ settings: patch, live: live && { sent: live.sent, compared: live.compared, notes: live.notes } },
  }
}

/** Differences with one cause as one finding, with the first place. */
function grouped(differences: readonly DriftDifference[], patch: JsonObject) {
  const groups = new Map<string, DriftDifference[]>()
  for (const each of differences) groups.set(causeOf(each), [...(groups.get(causeOf(each)) ?? []), each])
  return [...groups.values()].map((group) => {
    const { setting, value, ...first } = group[0] as DriftDifference // no group is empty
    const isMixed = first.kind === 'mixed'
    const shown = (isMixed ? undefined : patch[setting?.key ?? '']) ?? value
    const open = setting && { item: setting.item, setting: setting.key, value: shown }
    return { ...first, count: group.length, ...open }
  })
}

/** @param failOn the blames that make a report fail */
export function driftExitCode(
  { findings, exchanges, compared, live }: DriftReport,
  failOn: readonly string[],
): number {
  if (findings.some(({ blame }) => failOn.includes(blame))) return FAILED
  const isEnough = (part: number, of: number) => part > 0 && 2 * part >= of
  return isEnough(compared, exchanges) && (!live || isEnough(live.compared, live.sent)) ? OK : INCOMPLETE
}

function textOf({ blame, request, detail, kind, item, setting, value }: DriftFinding): string {
  const others = kind === 'mixed' ? ', while other exchanges show another value' : ''
  if (blame === 'open') return `${item} ${setting}: ${shownValue(value ?? null)}${others}`
  return `${request}: ${detail}${kind ? ` (${kind})` : ''}`
}

const placeOf = ({ count, file, entry }: DriftFinding) =>
  `${count === 1 ? '' : `${counted(count, 'difference')}, the first in `}${file} entry ${entry}`

/** The report as text, or as Markdown for an issue. */
export function driftLines(report: DriftReport, isMarkdown: boolean): string[] {
  const { findings, exchanges, compared, not_compared, left_out, settings, live } = report
  const code = (text: string) => (isMarkdown ? `\`${text.replaceAll(/[`\n]/g, ' ')}\`` : text)
  const counts = (all: object) => Object.entries(all).map(([reason, count]) => `${count}: ${code(reason)}`)
  const sections: (readonly [title: string, items: readonly string[]])[] = [
    ...Object.entries(TITLES).map(([blame, title]) => {
      const own = findings.filter((each) => each.blame === blame)
      return [title, own.map((each) => `${code(textOf(each))}: ${placeOf(each)}`)] as const
    }),
    ['Not compared', counts(not_compared)],
    ['Left out', counts(left_out)],
    ['The running service', live?.notes ?? []],
  ]
  const none = findings.length === 0 ? 'No difference. ' : ''
  const lines = [`${none}Compared: ${compared} of ${counted(exchanges, 'exchange')}.`]
  const title = (text: string) => lines.push(`${isMarkdown ? '\n## ' : ''}${text}`)
  for (const [text, items] of sections) {
    if (items.length > 0) title(text)
    for (const each of items) lines.push(`${isMarkdown ? '- ' : '  '}${each}`)
  }
  if (Object.keys(settings).length === 0) return lines
  title('With these settings the open questions disappear (--write-settings FILE)')
  lines.push(code(JSON.stringify(settings)))
  return lines
}

/** The report as JUnit XML: a case for each file and blame, and an error when too little was compared. */
export function driftJunit(report: DriftReport, failOn: readonly string[]): string {
  const cases = report.files.flatMap(({ file }) =>
    failOn.map((blame) => {
      const own = report.findings.filter((each) => each.file === file && each.blame === blame)
      const failures = own.map(
        (each) => `<failure type="${blame}" message="${xml(textOf(each))}">${xml(placeOf(each))}</failure>`,
      )
      return `<testcase classname="drift.${blame}" name="${xml(file)}">${failures.join('')}</testcase>`
    }),
  )
  if (driftExitCode(report, []) === INCOMPLETE)
    cases.push('<testcase name="compared"><error message="Less than half could be compared."/></testcase>')
  const count = (tag: string) => cases.filter((each) => each.includes(tag)).length
  const counts = `tests="${cases.length}" failures="${count('<failure')}" errors="${count('<error')}"`
  return `<testsuite name="drift" ${counts}>\n${cases.join('\n')}\n</testsuite>\n`
}
