import type { Json } from '../core/json.ts'
import { wordsOf } from './hints.ts'

/** A word for the start of something, then those for its end; or for an amount, then for greater ones that contain it. */
const LASTS: ReadonlyMap<string, readonly string[]> = new Map(
  (
    'start end finish stop,started ended finished completed,begin end,from to until through,' +
    'effective expiration expiry end,issue due expiry,issued due paid,invoice due,order delivery shipping,' +
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
  const known = new Map(names.map((name) => [bare(wordsOf(name)), name]))
  return names.flatMap((name) => {
    const words = bare(wordsOf(name))
    return [...LASTS].flatMap(([first, lasts]) => {
      const place = ` ${words} `
      if (!place.includes(` ${first} `)) return []
      const others = lasts.map((last) => known.get(bare(place.replace(` ${first} `, ` ${last} `).trim())))
      return others.flatMap((other) =>
        other === undefined || other === name ? [] : [[name, other] as const],
      )
    })
  })
}

// `tax_amount` and `total` are of one kind, as `start` and `end_date` are.
function bare(words: string): string {
  return words.replace(/(?!^) (amount|date|at|on|value)$/, '')
}

/** Whether a value has to be exchanged with one that should not be less: two numbers, or two dates or times in one form. */
export function isAfter(first: Json, last: Json): boolean {
  if (typeof first === 'number' && typeof last === 'number') return first > last
  if (typeof first !== 'string' || typeof last !== 'string') return false
  const [a, b] = [sortable(first), sortable(last)]
  return a !== undefined && b !== undefined && a > b
}

function sortable(text: string): string | undefined {
  const [, day, month, year] = /^(\d\d)[./-](\d\d)[./-](\d{4})$/.exec(text) ?? []
  if (day !== undefined) return `${year}-${month}-${day}`
  return /^(\d{4}-\d\d|\d{8}$|\d\d:\d\d)/.test(text) ? text : undefined
}
