import type { ConductReport, Finding } from '../../../core/conduct/finding.ts'
import type { JudgeOptions } from '../../../core/conduct/report.ts'

/** What a report on the conduct of clients takes into account. */
export interface ConductOptions extends JudgeOptions {
  /** Only requests from this virtual instant on, or after the request with this id. */
  readonly since?: string | undefined
}

/** How the clients have behaved. */
export interface Conduct extends Omit<ConductReport, 'object' | 'data'> {
  readonly findings: readonly Finding[]
}

/** The input of `GET /conduct`. */
export function conductQueryOf({ retries, except, since }: ConductOptions) {
  return { query: { retries: retries?.toString(), except: except?.join(','), since } }
}
