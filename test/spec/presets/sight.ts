import type { Stage } from './stage.ts'

/** How one preset is looked at, and what is seen: the same through every client, and each time. */
export interface Sight {
  readonly preset: string
  readonly look: (stage: Stage) => Promise<unknown>
  readonly sees: unknown
  /** Looks that have to wait are repeated less often. */
  readonly slow?: true
}

export const USERS = '/organization/teamspaces/ts-a/users?limit=2'
