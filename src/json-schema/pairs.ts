import { isObject, type Json } from '../core/json.ts'
import type { Draw } from './draw.ts'
import { mailOf, nameWords, PARTS, PLACES } from './hints.ts'

/** A word for the start of something, then those for its end; or for an amount, then for greater ones that contain it. */
const LASTS: ReadonlyMap<string, readonly string[]> = new Map(
  (
    'start end finish stop,started ended finished completed,begin end,from to until through,' +
    'effective expiration expiry termination end,signed effective start,issue due expiry,issued due paid,invoice due,order delivery shipping,' +
    'created updated modified closed,opened closed,departure arrival return,in out,hire termination,' +
    'min max,minimum maximum,lower upper,low high,discount gross total subtotal'
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
  const isOrdered = (value: Json): value is number | string =>
    typeof value === 'number' || (typeof value === 'string' && /^(\d{4}-\d\d|\d\d:\d\d)/.test(value))
  return typeof first === typeof last && isOrdered(first) && isOrdered(last) && first > last
}

const SHOP = /\b(merchant|shop|store|cashier)\b/

/** Texts that follow from another property, by their names; the first that fits the schema is taken. */
const FOLLOWING: readonly (readonly [other: RegExp, name: RegExp, texts: readonly string[]])[] = [
  [/^(closed|completed)\b/, /^status$/, ['closed']],
  [/\b(consumption|meter)\b/, /^(unit|uom)$/, ['kWh']],
  [/^(sku|description|product|article)\b/, /^(unit|uom)$/, ['pcs']],
  [/\binspect/, /^status$/, ['open', 'closed']],
  [
    /\binspect/,
    /^(findings|observations)$/,
    ['No defects were found.', 'Two bolts are loose.', 'The seal is worn.'],
  ],
  // Cities, postal codes and phone numbers are those of the United States.
  [/\b(city|postal|zip)\b/, /^country( code)?$/, ['United States', 'US', 'USA']],
  [SHOP, /^payment method$/, ['card', 'cash']],
  [/\b(drawing|part) (number|no|name)$/, /^title$/, PARTS],
  [/\bparties\b|^(effective|termination) date$/, /^title$/, ['Service agreement', 'Framework contract']],
]

const cents = (value: number) => Math.round(value * 100) / 100

const KNOWN =
  /^(gross|net|sub ?total|total|amount|hours|(last|full) name|iban|status|unit|uom|title|country|city|town|payment method|findings|observations)\b/

/** The names of an object that {@link agreeing} looks at, each with its words: none, if it knows no pair of them. */
export function knownWords(names: readonly string[]): readonly (readonly [name: string, words: string])[] {
  const all = names.map((name) => [name, nameWords(name)] as const)
  return all.some(([, words]) => KNOWN.test(words)) ? all : []
}

/** The amount of a line: its total, or its price times its quantity. */
function amountOf(line: Json): number {
  const fields = Object.entries(isObject(line) ? line : {}).map(([name, value]) => [nameWords(name), value])
  const find = (words: RegExp) => fields.find(([name]) => words.test(String(name)))?.[1]
  const price = Number(find(/^(unit )?price$/)) * Number(find(/^(quantity|qty)$/) ?? 1)
  return Number(find(/^(line total|total|amount)$/) ?? price) || 0
}

/**
 * Other values for an object whose values should agree, by the names of its properties: a total is the sum of its parts, an email
 * address has the name of the person. Each change is made as a whole or not at all; of several values the first that fits counts.
 */
export function* agreeing(
  words: ReturnType<typeof knownWords>,
  values: ReadonlyMap<string, Json>,
  draw: Draw,
): Generator<readonly (readonly [name: string, values: readonly Json[]])[]> {
  const find = (expression: RegExp, type: string) =>
    words.find(([name, each]) => expression.test(each) && typeof values.get(name) === type)?.[0] ?? ''
  const textOf = (expression: RegExp) => String(values.get(find(expression, 'string')) ?? '')
  const whole = find(/^(gross|total|grand total)\b/, 'number') || find(/^amount$/, 'number')
  const [net, tip] = [find(/^(net|sub ?total)\b/, 'number'), find(/^tip$/, 'number')]
  const tax = find(/^(tax|vat)( (amount|withheld))?$/, 'number')
  const lines = [...values.values()].find((value) => Array.isArray(value)) as readonly Json[] | undefined
  const sum = cents((lines ?? []).reduce<number>((all, line) => all + amountOf(line), 0))
  const rate = find(/^gross weight\b/, 'number') === '' ? 0.19 : 0.05
  const isReceipt = words.some(([, each]) => SHOP.test(each))
  // A receipt of a shop is over less than an invoice.
  const small = (value: number) => (isReceipt ? cents(value / 40 + 2) : value)
  const total = sum || small(Number(values.get(whole)))
  const base = net === '' ? total / (1 + rate) : sum || small(Number(values.get(net)))
  const [duty, extra] = [cents(base * rate), tip === '' ? 0 : cents(base * 0.1)]
  const full = net === '' ? total : cents(base + duty + extra)
  const parts = [
    [net, cents(base)],
    [tax, duty],
    [tip, extra],
    [whole, full],
  ] as const
  if (whole !== '') yield parts.flatMap(([name, value]) => (name === '' ? [] : [[name, [value]]]))
  const written = find(/^(grand )?total\b/, 'string')
  if (isReceipt && written !== '') yield [[written, [small(Number(values.get(written))).toFixed(2)]]]
  const place = PLACES.find(({ city }) => city === textOf(/^(city|town)$/))
  if (place !== undefined) {
    yield [[find(/\b(zip|postal|postcode)\b/, 'string'), [place.zip]]]
    yield [[find(/^(state|province)$/, 'string'), [place.state]]]
  }
  const [from = 0, to = 0] = [/^start time$/, /^end time$/].map((each) => {
    const [hours = 0, minutes = 0] = textOf(each).split(':').map(Number)
    return hours + minutes / 60
  })
  if (to > from) yield [[find(/^hours$/, 'number'), [cents(to - from), Math.round(to - from)]]]
  const person = [/^first name$/, /^last name$/, /^full name$/].map(textOf).join(' ').trim()
  if (person !== '') yield [[find(/^e ?mail( address)?$/, 'string'), [mailOf(person)]]]
  const [iban, code] = [textOf(/^iban$/), textOf(/^bic$/)]
  if (iban !== '') yield [[find(/^bic$/, 'string'), [code.slice(0, 4) + iban.slice(0, 2) + code.slice(6)]]]
  for (const [other, name, texts] of FOLLOWING)
    if (words.some(([own, each]) => other.test(each) && values.has(own)))
      yield [[find(name, 'string'), [draw.oneOf(texts) ?? '', ...texts]]]
}
