import { isObject, same } from '../../core/json.ts'
import type { Arrow } from '../../core/lifecycle.ts'
import type { Service } from '../../core/service.ts'
import { DAY } from '../../core/time/instant.ts'
import type { HarExchange } from './har.ts'

/** How an exchange does not follow from the ones before it. */
type Difference = readonly [exchange: HarExchange, detail: string]

/** Follows the states of records in the order of time. */
export function transitionDifferences(
  exchanges: readonly HarExchange[],
  { resources }: Service,
): Difference[] {
  const inOrder = exchanges
    .filter(({ status }) => status < 300)
    .sort((a, b) => a.start - b.start || a.entry - b.entry)
  return resources.flatMap(({ operations, lifecycles = [] }) =>
    lifecycles.flatMap(({ arrows }) => {
      const moves = arrows.filter(({ from, to }) => from !== to)
      const latest = new Map<string, readonly [state: string, HarExchange]>()
      return inOrder
        .filter(({ declared }) => operations.includes(declared))
        .flatMap((exchange) => {
          const detail = transitionOf(exchange, moves, latest)
          return detail === undefined ? [] : [[exchange, detail]]
        })
    }),
  )
}

function transitionOf(
  exchange: HarExchange,
  moves: readonly Arrow[],
  latest: Map<string, readonly [state: string, HarExchange]>,
): string | undefined {
  const { id, status: state } = isObject(exchange.received) ? exchange.received : {}
  if (typeof id !== 'string' || !moves.some(({ from, to }) => from === state || to === state))
    return undefined
  const { declared } = exchange
  const now = String(state)
  const before = latest.get(id)
  // A repeated creation gets its first response again.
  if (declared.idempotent === true && before !== undefined) return undefined
  latest.set(id, [now, exchange])
  const undone = moves.find(({ on, from }) => declared.name.endsWith(`.${on}`) && from === now)
  if (undone !== undefined) return `transition: ${now} after ${undone.on}, instead of ${undone.to}`
  if (before === undefined) {
    const isNew = declared.method === 'POST' && !declared.path.includes('{')
    return isNew && moves.some(({ to }) => to === now) ? `transition: a new record is ${now}` : undefined
  }
  const [last, earlier] = before
  // Requests that overlap may be handled in either order.
  if (earlier.end > exchange.start && leadsTo(moves, now, last)) return void latest.set(id, before)
  return now === last || leadsTo(moves, last, now)
    ? undefined
    : `transition: ${last} in entry ${earlier.entry} does not lead to ${now}`
}

// A poll can miss states, so states in between count as well.
function leadsTo(moves: readonly Arrow[], from: string, to: string, seen: readonly string[] = []): boolean {
  const next = moves.filter((move) => move.from === from && !seen.includes(move.to))
  return next.some((move) => move.to === to || leadsTo(moves, move.to, to, [...seen, from]))
}

/** Compares requests with one Idempotency-Key. Specification: Limits / Batch predictions, and Errors / Conditions. */
export function repetitionDifferences(exchanges: readonly HarExchange[]): Difference[] {
  const first = new Map<string, HarExchange>()
  return exchanges.flatMap((exchange) => {
    const { declared, key, sent, received, status, start } = exchange
    if (declared.idempotent !== true || key === undefined || sent === undefined) return []
    const earlier = first.get(`${declared.name} ${key}`)
    if (earlier === undefined || start - earlier.start >= DAY) {
      if (status < 300) first.set(`${declared.name} ${key}`, exchange)
      return []
    }
    const differs = (detail: string): Difference[] => [
      [exchange, `Idempotency-Key of entry ${earlier.entry}: ${detail}`],
    ]
    if (!same(earlier.sent, sent))
      return status < 300 ? differs(`status ${status} instead of 409 for another body`) : []
    const isKnown = earlier.received !== undefined && received !== undefined
    const isReplay = status < 300 ? !isKnown || same(earlier.received, received) : status !== 409
    return isReplay ? [] : differs('not the first response for the same body')
  })
}
