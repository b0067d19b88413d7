import { conductQueryOf } from '../control-client/conduct.ts'
import type { ConductReport, Finding } from '../core/conduct/finding.ts'
import { findingCounts, findingLines, findingsFrom } from '../core/conduct/finding-lines.ts'
import { counted } from '../core/words.ts'
import { command, FAILED } from './command.ts'
import { controlOf } from './control-client.ts'
import { type Line, styled } from './line.ts'
import { CLIENT_OPTIONS, failing, freeTexts, SHARED } from './options.ts'
import { show } from './print.ts'

export const conductCommands = [
  command({
    name: 'conduct',
    description: 'Judge how the clients have behaved: waits, retries, keys, pages, polls, connections',
    options: {
      ...CLIENT_OPTIONS,
      failOn: failing('there is a finding'),
      retries: SHARED.retries,
      except: freeTexts('code', 'verdict that does not count; may be repeated'),
      since: SHARED.since,
    },
    run: async (invocation) => {
      const { failOn, ...options } = invocation.options
      const report = await controlOf(options)('GET /conduct', conductQueryOf(options))
      const code = show(invocation, report, conductLines(report))
      return failOn !== undefined && findingsFrom(report.data, failOn).length > 0 ? FAILED : code
    },
  }),
]

const STYLES = { error: 'red', warning: 'yellow', note: 'cyan' } as const

/** The lines of a finding; its severity has a colour. @param prefix text in front of the first line */
export function styledFinding(finding: Finding, prefix = ''): Line[] {
  const [first = '', ...rest] = findingLines(finding)
  const { severity } = finding
  return [[prefix, styled(STYLES[severity], severity), first.slice(severity.length)], ...rest]
}

export function conductLines({ data, judged, not_judged }: ConductReport): Line[] {
  return [
    `${counted(judged.requests, 'request')} in ${counted(judged.calls, 'call')}: ${findingCounts(data)}.`,
    ...data.flatMap((finding) => styledFinding(finding)),
    ...not_judged.map((reason) => `Not judged: ${reason}`),
  ]
}
