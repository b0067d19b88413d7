import type { ConductReport, Finding } from '../core/conduct/finding.ts'
import type { ConductOptions } from '../server/control/routes/reports.ts'

/** How the clients have behaved. */
export interface Conduct extends Omit<ConductReport, 'object' | 'data'> {
  readonly findings: readonly Finding[]
}

/** The input of `GET /conduct`. */
export function conductQueryOf({ retries, except, since }: ConductOptions) {
  return { query: { retries: retries?.toString(), except: except?.join(','), since } }
}
