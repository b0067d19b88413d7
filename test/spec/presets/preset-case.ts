import type { Subject } from './setup.ts'

/** How a test observes one preset, and the expected result: the same for every client and run. */
export interface PresetCase {
  readonly preset: string
  readonly run: (subject: Subject) => Promise<unknown>
  readonly expected: unknown
}

/** A case whose preset is armed before anything is sent. */
export function armed(preset: string, run: PresetCase['run'], expected: unknown): PresetCase {
  return { preset, run: (subject) => subject.arm(preset).then(() => run(subject)), expected }
}

export const USERS = '/organization/teamspaces/ts-a/users?limit=2'
