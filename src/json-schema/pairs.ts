import type { Json } from '../core/json.ts'
import { nameWords } from './hints.ts'

/** A word for the start of something, then those for its end; or for an amount, then for greater ones that contain it. */
const LASTS: ReadonlyMap<string, readonly string[]> = new Map(
  (
    'start end finish stop,started ended finished completed,begin end,from to until through,' +
    'effective expiration expiry termination end,issue due expiry,issued due paid,invoice due,order delivery shipping,' +
    'created updated modified closed,opened closed,departure arrival return,in out,hire termination,' +
    'min max,minimum maximum,lower upper,low high,subtotal total,net gross total,tax gross total subtotal,' +
    'vat gross total subtotal,discount gross total subtotal'
  )
    .split(',')
    .map((words) => words.split(' '))
    .map(([first = '', ...lasts]) => [first, lasts] as const),
)

/** The pairs of properties whose values have an order, by their names: `start_date` and `end_date`, `validFrom` and `validUntil`. */
export function orderedPairs(names: readonly string[]): readonly (readonly [first: string, last: string])[] {
  // `tax_amount` and `total` are of one kind, as `start` and `end_date` are.
  const bare = (words: string) => words.replace(/(?!^) (amount|date|at|on|value)$/, '')
  const known = new Map(names.map((name) => [bare(nameWords(name)), name]))
  return [...known].flatMap(([words, name]) =>
    [...LASTS].flatMap(([first, lasts]) => {
      const place = new RegExp(`\\b${first}\\b`)
      if (!place.test(words)) return []
      const others = lasts.map((last) => known.get(bare(words.replace(place, last))))
      return others.flatMap((other) => (other === undefined ? [] : [[name, other] as const]))
    }),
  )
}

/** Whether a value has to be exchanged with one that should not be less: two numbers, or two dates or times of ISO 8601. */
export function isAfter(first: Json, last: Json): boolean {
  const isOrdered = (value: Json) =>
    typeof value === 'number' || /^(\d{4}-\d\d|\d\d:\d\d)/.test(String(value))
  return (
    typeof first === typeof last &&
    isOrdered(first) &&
    isOrdered(last) &&
    first !== null &&
    last !== null &&
    first > last
  )
}
