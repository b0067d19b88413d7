/** Exit codes: all is well; something failed; the command was called in a way that means nothing. */
export const OK = 0
export const FAILED = 1
export const MISUSED = 2

/** A command line or an environment that cannot be obeyed. Each problem says what, where, and the way out. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    super(problems.join('\n'))
    this.problems = problems
  }
}

/** A command that was understood and could not do its work. The message ends with the way out. */
export class CommandFailed extends Error {
  override readonly name = 'CommandFailed'
}
