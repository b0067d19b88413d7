import { counted } from '../words.ts'
import { type Finding, SEVERITIES } from './finding.ts'

/** Maximum number of requests that are named for one finding. */
const MAX_NAMED = 10

/** A finding as lines of text: the verdict with its message, the requests, and the fix. */
export function findingLines({ severity, code, message, requests, fix }: Finding): string[] {
  const named = requests.slice(0, MAX_NAMED).join(', ')
  const more = requests.length > MAX_NAMED ? ` and ${requests.length - MAX_NAMED} more` : ''
  const about = `  ${requests.length === 1 ? 'request' : 'requests'} ${named}${more}`
  return [`${severity} ${code}: ${message}`, ...(requests.length === 0 ? [] : [about]), `  ${fix}`]
}

/** The number of findings of each severity: `2 errors, 1 note`. */
export function findingCounts(findings: readonly Finding[]): string {
  const counts = SEVERITIES.flatMap((severity) => {
    const { length } = findings.filter((each) => each.severity === severity)
    return length === 0 ? [] : [counted(length, severity)]
  })
  return counts.join(', ') || 'no findings'
}

/** The findings of a severity, and of more severe ones. */
export function findingsFrom<F extends Finding>(findings: readonly F[], least: 'error' | 'warning'): F[] {
  return findings.filter(({ severity }) => SEVERITIES.indexOf(severity) <= SEVERITIES.indexOf(least))
}
