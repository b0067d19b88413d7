/** The budget of steps is used up, or a value grows beyond its bounds. Steps are equal on every machine; time is not. */
export class OutOfSteps extends Error {
  /** JSON Pointer of the schema that was being worked on. */
  at: string | undefined
}

/** In an object of its own, whose numbers change without a new allocation. */
const budget = { left: Number.MAX_VALUE, spent: 0.5 }

/** Counts work that grows with the input. Throws `OutOfSteps` when the budget of the work under way is used up. */
export function spend(steps: number): void {
  budget.left -= steps
  budget.spent += steps
  if (budget.left < 0) throw new OutOfSteps('the budget of steps is used up')
}

/** Steps since the process began: the difference of two readings is the cost of what was done in between. */
export function stepsSpent(): number {
  return budget.spent
}

/** What the budget of the work under way still allows. */
export function stepsLeft(): number {
  return budget.left
}

/** Steps after which other work gets its turn: some milliseconds. */
export const STEPS_PER_PIECE = 10_000

/** Counts work whose result is kept, in what other work waits for but in nobody's budget: it is done once, by whatever needs it first. */
export function spendOnce(steps: number): void {
  budget.spent += steps
}

/** Does work within so many steps of its own. */
export function withinSteps<T>(most: number, work: () => T): T {
  const { left } = budget
  budget.left = most
  try {
    return work()
  } finally {
    budget.left = left
  }
}
