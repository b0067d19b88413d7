import type { Stage } from './stage.ts'

/** How a test observes one preset, and the expected result: the same for every client and run. */
export interface PresetCase {
  readonly preset: string
  readonly run: (stage: Stage) => Promise<unknown>
  readonly expected: unknown
}

export const USERS = '/organization/teamspaces/ts-a/users?limit=2'
