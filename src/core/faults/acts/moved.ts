import type { Step } from '../../request/steps.ts'
import type { Commit } from '../../state/commit.ts'
import type { Decision } from '../decision.ts'

/** What the `state` actions of one stage changed. */
export interface Moved {
  readonly step: Extract<Step, 'faultsBefore' | 'faultsAfter'>
  readonly commit: Commit
}

// Beside the decision rather than in it: most decisions move nothing, and the log keeps every one of them.
const moved = new WeakMap<Decision, readonly Moved[]>()

/** What faults have moved on behalf of a request, in order; the request's own changes are not among it. */
export function movedBy(decision: Decision): readonly Moved[] {
  return moved.get(decision) ?? []
}

export function noteMoved(decision: Decision, what: Moved): void {
  moved.set(decision, [...movedBy(decision), what])
}
