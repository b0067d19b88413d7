import { isObject } from '../../../src/core/json.ts'
import type { Chance } from '../../../src/core/random.ts'
import type { ApiDocument } from './f1-document.ts'
import { MUTATIONS } from './f1-mutations.ts'
import { type Draft, type Source, validRequest } from './f1-valid.ts'
import { pick } from './f1-values.ts'
import { type Sent, toSent } from './f1-wire.ts'

/** One request of a generated script. */
export interface Generated {
  /** Virtual milliseconds that pass before it. */
  readonly ms: number
  readonly sent: Sent
  /** Whether nothing was done to it, so that the service has no reason to call it malformed. */
  readonly isValid: boolean
  /** The operation that it was made for; a mutation may lead it elsewhere. */
  readonly operation: string
  /** What was done to it. */
  readonly mutations: string
}

/** In ten. */
const MUTATED = 4

/** The next request: of any operation, valid six times out of ten. @param port that its Host header names */
export function generate(document: ApiDocument, source: Source, port: number): Generated {
  const { chance } = source
  const ms = pause(chance)
  const operation = pick(chance, document.operations)
  const draft = validRequest(operation, source)
  if (chance.int(1, 10) <= MUTATED) mutate(draft, source)
  return {
    ms,
    sent: toSent(draft, port),
    isValid: draft.mutations.length === 0 && !draft.segments.includes('none-there'),
    operation: operation.name,
    mutations: draft.mutations.join(' + ') || 'valid',
  }
}

/** Remembers the cursors of a response for later requests. */
export function learn({ memory }: Source, operation: string, status: number, text: string): void {
  if (operation !== 'consumption.list' || status !== 200 || text === '') return
  const body: unknown = JSON.parse(text)
  if (isObject(body) && typeof body.last_id === 'string') memory.cursors.push(body.last_id)
}

// Mostly a moment, so that rate windows fill; now and then long enough for batches to go on, end and be cleaned up.
function pause(chance: Chance): number {
  const draw = chance.int(0, 199)
  if (draw === 0) return chance.int(0, 3 * 86_400_000)
  return draw < 10 ? chance.int(0, 20_000) : chance.int(0, 40)
}

function mutate(draft: Draft, source: Source): void {
  const times = source.chance.int(1, 3)
  for (let n = 0; n < times; n++) {
    const { name, apply } = pick(source.chance, MUTATIONS)
    apply(draft, source)
    draft.mutations.push(name)
  }
}
