import { FaultBook } from '../../src/core/faults/book.ts'
import type { RequestSubject } from '../../src/core/faults/match.ts'
import { type FaultRule, faultRules } from '../../src/core/faults/rule.ts'
import { Store } from '../../src/core/state/store.ts'
import { workspaceService } from '../../src/emulator/service.ts'
import { START } from './base-state.ts'
import { ruleOf } from './faults.ts'

export { ruleOf }

/** A request as rules see it; by default a plain one. */
export function subject(over: Partial<RequestSubject> = {}): RequestSubject {
  return {
    ...{ kind: 'request', operation: 'things.list', method: 'GET', path: '/v1/things', pathPrefix: '' },
    ...{ query: {}, headers: {}, body: { kind: 'none' }, caller: undefined, resource: null },
    ...over,
  }
}

/** A book of these rules with a separate store, and a clock that the test sets. */
export function bookOf(...rules: readonly Partial<FaultRule>[]) {
  const store = new Store()
  const facts = { now: Date.parse(START), wall: Date.parse(START), seed: 1 }
  const { now, wall, seed } = facts
  const book = new FaultBook(store, workspaceService.primitives, {
    now: () => facts.now,
    wall: () => facts.wall,
    seed: () => facts.seed,
  })
  store.transaction(START, (tx) => {
    for (const [n, rule] of rules.entries()) tx.in(faultRules).put(ruleOf(`rule-${n + 1}`, rule))
  })
  return { book, store, facts, began: { now, wall, seed } }
}

/** The decision for each request: the ids of the rules that fired, with the step of a sequence. */
export function fires(book: FaultBook, subjects: readonly RequestSubject[]): string[][] {
  return subjects.map((each) =>
    (book.decide('call', each)?.fired ?? []).map(({ rule, step }) =>
      step === undefined ? rule.id : `${rule.id}:${step}`,
    ),
  )
}

/** The numbers, from 1, of the equal requests on which the only rule fired. */
export function firedNumbers(book: FaultBook, count: number, each = subject()): number[] {
  return fires(book, Array<RequestSubject>(count).fill(each)).flatMap((ids, n) =>
    ids.length === 0 ? [] : [n + 1],
  )
}
