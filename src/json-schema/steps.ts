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

/** Does work within so many steps, and within those that are left of the work around it. */
export function withinSteps<T>(most: number, work: () => T): T {
  const before = left
  const own = Math.min(most, before)
  left = own
  try {
    return work()
  } finally {
    left = before - (own - left)
  }
}
