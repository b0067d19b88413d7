import type { Finding } from 'agent-workspace-emulator'

/** The errors and warnings among findings, as `severity code: message`. */
export function faultsIn(findings: readonly Finding[]): string[] {
  return findings
    .filter(({ severity }) => severity !== 'note')
    .map(({ severity, code, message }) => `${severity} ${code}: ${message}`)
}
