import type { Issue } from './json.ts'

/** Thrown for a fixtures document that cannot be used. Has the file and all problems found in it. */
export class FixturesError extends Error {
  readonly file: string
  readonly issues: readonly Issue[]

  constructor(file: string, issues: readonly Issue[]) {
    super(`${file}: ${issues.map(({ pointer, detail }) => `${pointer || '/'}: ${detail}`).join('\n  ')}`)
    this.name = 'FixturesError'
    this.file = file
    this.issues = issues
  }
}
