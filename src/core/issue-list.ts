import type { Issue } from './json.ts'
import { counted } from './words.ts'

/** The maximum number of problems that are listed for one document or body. */
export const MAX_ISSUES = 100

/** What a list of problems leaves out. */
interface LeftOut {
  /** Number of problems that were found, but are not listed. */
  problems: number
  /** Number of records or fields that were not checked. */
  unchecked: number
}

// A symbol, so that no response shows it, and a copy of the entry still has it.
const LEFT_OUT = Symbol('leftOut')

/** The last entry of a list that leaves something out. */
interface Remainder extends Issue {
  readonly [LEFT_OUT]: LeftOut
}

/**
 * The problems of one document or body: the first 100, then one entry that says how many more there are. A wrong document of
 * a few megabytes has millions of problems, so every list of problems that grows with its input must be one of these.
 */
export class IssueList extends Array<Issue> {
  // Results of `map` and `filter` are plain arrays.
  static override get [Symbol.species](): ArrayConstructor {
    return Array
  }

  /** Whether further problems are only counted. A check that goes through a long list should then stop. */
  get isFull(): boolean {
    return this.length >= MAX_ISSUES
  }

  override push(issue: Issue): number {
    const { [LEFT_OUT]: left } = issue as Partial<Remainder>
    if (left !== undefined) this.leaveOut(left)
    else if (this.isFull) this.leaveOut({ problems: 1 })
    else super.push(issue)
    return this.length
  }

  /** @param at the place of what was checked: pointers of the issues are below it */
  addAll(issues: Iterable<Issue>, at = ''): void {
    for (const issue of issues) this.push(at === '' ? issue : { ...issue, pointer: at + issue.pointer })
  }

  /** Adds the issue of each name that is not known. Names beyond the bound are only counted: `issueOf` may take a while. */
  addUnknown(names: readonly string[], known: readonly string[], issueOf: (name: string) => Issue): void {
    for (const name of names) {
      if (known.includes(name)) continue
      if (this.isFull) this.leaveOut({ problems: 1 })
      else this.push(issueOf(name))
    }
  }

  /** Counts problems that are not listed, and values that were not checked. */
  leaveOut({ problems = 0, unchecked = 0 }: Partial<LeftOut>): void {
    const last = this.at(-1) as Partial<Remainder> | undefined
    const left = last?.[LEFT_OUT] ?? { problems: 0, unchecked: 0 }
    if (last?.[LEFT_OUT] === undefined) super.push(remainder(left))
    left.problems += problems
    left.unchecked += unchecked
  }
}

/** Whether an entry says how many problems a list leaves out, instead of being a problem. */
export function isRemainder(issue: Issue): boolean {
  return LEFT_OUT in issue
}

/** The number of problems: those in a list, and those that it leaves out. */
export function problemCount(issues: readonly Issue[]): number {
  const counts = issues.map((issue) => (issue as Partial<Remainder>)[LEFT_OUT]?.problems ?? 1)
  return counts.reduce((sum, count) => sum + count, 0)
}

/** The last entry of a list when a check stopped at its first problem. */
export const STOPPED: Issue = remainder({ problems: 0, unchecked: 0 })

// Its text is made when it is read: the counts of a list change far more often.
function remainder(left: LeftOut): Remainder {
  return {
    pointer: '',
    get detail() {
      return describeLeftOut(left)
    },
    [LEFT_OUT]: left,
  }
}

function describeLeftOut({ problems, unchecked }: LeftOut): string {
  if (problems + unchecked === 0)
    return 'The value is large, so its check stopped at the first problem. Correct it, then check again.'
  const found = `${counted(problems, 'more problem')} ${problems === 1 ? 'is' : 'are'} not listed`
  const rest = `${counted(unchecked, 'value')} after these ${unchecked === 1 ? 'was' : 'were'} not checked`
  const parts = [...(problems > 0 ? [found] : []), ...(unchecked > 0 ? [rest] : [])]
  return `${parts.join(', and ')}. Correct the listed problems, then check again.`
}
