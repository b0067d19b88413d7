/** The budget of steps is used up, or a value is too large. Steps are the same on every machine; time is not. */
export class OutOfSteps extends Error {
  /** JSON Pointer of the schema that was being worked on. */
  at: string | undefined
}

/** Both numbers are in one object, so that a change does not allocate. */
const budget = { left: Number.MAX_VALUE, spent: 0.5 }

/** Counts work that grows with the input. Throws `OutOfSteps` when the budget of the current work is used up. */
export function spend(steps: number): void {
  budget.left -= steps
  budget.spent += steps
  if (budget.left < 0) throw new OutOfSteps('the budget of steps is used up')
}

/** Steps since the process started: the difference of two calls is the cost of the work between them. */
export function stepsSpent(): number {
  return budget.spent
}

/** Steps that are left in the budget of the current work. */
export function stepsLeft(): number {
  return budget.left
}

/** Steps after which other work gets its turn: a few milliseconds. */
export const STEPS_PER_PIECE = 10_000

/** Counts work whose result is cached. It is in {@link stepsSpent}, but in no budget: which caller does it first is arbitrary. */
export function spendOnce(steps: number): void {
  budget.spent += steps
}

/** Does work with a separate budget of `most` steps. Throws `OutOfSteps` when it is used up. */
export function withinSteps<T>(most: number, work: () => T): T {
  const { left } = budget
  budget.left = most
  try {
    return work()
  } finally {
    budget.left = left
  }
}
