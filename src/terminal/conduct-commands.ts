import { conductQueryOf } from '../client/conduct.ts'
import type { ConductReport, Finding } from '../core/conduct/finding.ts'
import { findingCounts, findingLines, findingsFrom } from '../core/conduct/finding-lines.ts'
import { conductOf } from '../core/conduct/report.ts'
import type { Sandbox } from '../core/sandboxes/sandbox.ts'
import { counted } from '../core/words.ts'
import { CLIENT_OPTIONS, command, FAILED } from './command.ts'
import { controlOf } from './control-client.ts'
import { type Line, styled } from './line.ts'
import { show } from './print.ts'

export const conductCommands = [
  command({
    name: 'conduct',
    description: 'Judge how the clients have behaved: waits, retries, keys, pages, polls, connections',
    options: [...CLIENT_OPTIONS, 'failOn', 'retries', 'except', 'since'],
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

/** A finding with the sandbox of its requests. */
export interface SandboxFinding extends Finding {
  readonly sandbox: string
}

/** Judges the clients of all sandboxes of an emulator, each when it is closed: the log is then emptied. */
export class ConductTally {
  readonly findings: SandboxFinding[] = []
  /** Number of findings beyond the first thousand, which are not kept. */
  omitted = 0

  watch(sandbox: Sandbox): void {
    sandbox.listeners.onClosed(() => {
      const { data } = conductOf(sandbox, sandbox.log.entries())
      for (const finding of data) {
        if (this.findings.length < MAX_FINDINGS) this.findings.push({ ...finding, sandbox: sandbox.name })
        else this.omitted++
      }
    })
  }
}

const MAX_FINDINGS = 1_000
