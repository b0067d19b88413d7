/** The budget of steps is used up, or a value grows beyond its bounds. Steps are equal on every machine; time is not. */
export class OutOfSteps extends Error {
  /** JSON Pointer of the schema that was being worked on. */
  at: string | undefined
}

let left = Number.POSITIVE_INFINITY
let spent = 0

/** Counts work that grows with the input. Throws `OutOfSteps` when the budget of the work under way is used up. */
export function spend(steps: number): void {
  left -= steps
  spent += steps
  if (left < 0) throw new OutOfSteps('the budget of steps is used up')
}

/** Steps since the process began: the difference of two readings is the cost of what was done in between. */
export function stepsSpent(): number {
  return spent
}

/** Steps after which other work gets its turn: some milliseconds. */
export const STEPS_PER_PIECE = 10_000

let countsOnce = true

/**
 * Counts work whose result is kept, so that it is done once. The value of an item does not depend on who did it: only the
 * examination of a schema, which begins with nothing kept, has it in its budget.
 */
export function spendOnce(steps: number): void {
  if (countsOnce) spend(steps)
  else spent += steps
}

/** Does work whose result is kept, and in which others count. What it may cost does not depend on who needs it first. */
export function once<T>(work: () => T): T {
  return countsOnce ? work() : withinSteps(STEPS_ONCE, false, work)
}

const STEPS_ONCE = 25_000

/** Does work within so many steps. @param isFirst whether work whose result is kept counts */
export function withinSteps<T>(most: number, isFirst: boolean, work: () => T): T {
  const before = [left, countsOnce] as const
  left = most
  countsOnce = isFirst
  try {
    return work()
  } finally {
    ;[left, countsOnce] = before
  }
}
