import { isObject } from '../../../src/core/json.ts'
import type { Chance } from '../../../src/core/random.ts'
import type { ApiDocument } from './document.ts'
import { MUTATIONS } from './mutations.ts'
import { type Sent, toSent } from './request-wire.ts'
import { type Draft, type Source, validRequest } from './valid.ts'
import { pick } from './values.ts'

export interface Generated {
  readonly ms: number
  readonly sent: Sent
  /** Whether the request is unchanged, so that the service has no reason to refuse it as malformed. */
  readonly isValid: boolean
  /** The operation for which it was generated; a mutation may change the route. */
  readonly operation: string
  readonly mutations: string
}

/** Requests with mutations, of ten. */
const MUTATED = 4

/** Generates a request of any operation; six of ten are valid. @param port the port in its Host header */
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

/** Stores the cursors of a response for later requests, with the dates of its request: a cursor belongs to them. */
export function learn(
  { memory }: Source,
  { operation, sent }: Pick<Generated, 'operation' | 'sent'>,
  status: number,
  text: string,
): void {
  if (operation !== 'consumption.list' || status !== 200 || text === '') return
  const body: unknown = JSON.parse(text)
  if (!isObject(body) || typeof body.last_id !== 'string') return
  const query = [...new URL(sent.target, 'http://127.0.0.1').searchParams]
  memory.cursors.push({ cursor: body.last_id, dates: query.filter(([name]) => name.endsWith('_date')) })
}

// Mostly short, so that rate windows fill; sometimes long enough for batches to progress, end and be cleaned up.
function pause(chance: Chance): number {
  const draw = chance.int(0, 199)
  if (draw === 0) return chance.int(0, 3 * 86_400_000)
  return draw < 10 ? chance.int(0, 20_000) : chance.int(0, 40)
}

function mutate(draft: Draft, source: Source): void {
  const times = source.chance.int(1, 3)
  for (let n = 0; n < times; n++) {
    const [name, apply] = pick(source.chance, Object.entries(MUTATIONS))
    apply(draft, source)
    draft.mutations.push(name)
  }
}
