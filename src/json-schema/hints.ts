import type { Faker } from '@faker-js/faker'
import { keeping } from '../core/keeping.ts'
import { load } from '../core/load.ts'
import type { Draw } from './draw.ts'

// Faker is loaded with the first kind.

/** Kinds of values from faker. The values of a kind are generated once, with a fixed seed, and then picked from. */
const KINDS = {
  bic: (faker) => faker.finance.bic(),
  city: (faker) => faker.location.city(),
  company: (faker) => faker.company.name(),
  country: (faker) => faker.location.country(),
  country_code: (faker) => faker.location.countryCode(),
  department: (faker) => faker.commerce.department(),
  domain: (faker) => `${faker.word.noun().replaceAll(/[^a-z]/g, '')}.example.com`,
  email: (faker) => faker.internet.exampleEmail().toLowerCase(),
  file: (faker) => `${faker.word.noun()}.pdf`,
  first_name: (faker) => faker.person.firstName(),
  iban: (faker) => faker.finance.iban(),
  job: (faker) => faker.person.jobTitle(),
  last_name: (faker) => faker.person.lastName(),
  person: (faker) => faker.person.fullName(),
  phone: (faker) => faker.phone.number({ style: 'international' }),
  phrase: (faker) => faker.company.catchPhrase(),
  product: (faker) => faker.commerce.productName(),
  sentence: (faker) => faker.commerce.productDescription(),
  state: (faker) => faker.location.state(),
  street: (faker) => faker.location.streetAddress(),
  user: (faker) => faker.internet.username().toLowerCase(),
  word: (faker) => faker.word.noun(),
  zip: (faker) => faker.location.zipCode('#####'),
} satisfies Record<string, (faker: Faker) => string>

export type FakeKind = keyof typeof KINDS

const POOL_SIZE = 40

const poolOf = keeping((kind) => {
  const { faker } = load('@faker-js/faker/locale/en') as typeof import('@faker-js/faker/locale/en')
  faker.seed(POOL_SIZE)
  return [...new Set(Array.from({ length: POOL_SIZE }, () => KINDS[kind as FakeKind](faker)))]
})

/** One value of a kind. */
export function fake(draw: Draw, kind: FakeKind): string {
  return draw.oneOf(poolOf(kind)) ?? kind
}

export type TextHint = FakeKind | ((draw: Draw) => string)

/** A text for a property, or the range of its numbers. */
interface Hint {
  readonly text?: TextHint
  /** Decimals at most. */
  readonly range?: readonly [from: number, to: number, decimals: number]
}

const among =
  (...texts: readonly string[]) =>
  (draw: Draw): string =>
    draw.oneOf(texts) ?? ''

const DAY = 86_400_000

/** A random calendar date, `from` to `to` days from now. */
export function dateIn(draw: Draw, from: number, to: number): string {
  const day = Math.floor(draw.now / DAY) + draw.chance.int(from, to)
  return new Date(day * DAY).toISOString().slice(0, 10)
}

function digits({ chance }: Draw, count: number): string {
  return String(chance.int(0, 10 ** count - 1)).padStart(count, '0')
}

const numbered =
  (prefix: string) =>
  (draw: Draw): string =>
    `${prefix}-${dateIn(draw, 0, 0).slice(0, 4)}-${digits(draw, 5)}`

/** The first row whose expression matches the words of a name applies. */
const HINTS: readonly (readonly [words: RegExp, hint: Hint])[] = [
  [/\biban\b/, { text: 'iban' }],
  [/\b(bic|swift)\b/, { text: 'bic' }],
  [/\bcurrency\b/, { text: among('EUR', 'USD', 'GBP', 'CHF', 'SEK', 'CAD') }],
  [/\be ?mail\b/, { text: 'email' }],
  [/\b(phone|mobile|telephone|fax)\b/, { text: 'phone' }],
  [/\b(url|website|link|homepage)\b/, { text: (draw) => `https://${fake(draw, 'domain')}/` }],
  [/\b(vat|tax) (id|number|no)\b/, { text: (draw) => `DE${digits(draw, 9)}` }],
  [
    /\b(due|expir\w*|deadline|delivery|valid until|renewal)( (date|day|on|at))?$/,
    { text: (draw) => dateIn(draw, 1, 60) },
  ],
  [/\b(birth|born)\b/, { text: (draw) => dateIn(draw, -27_000, -7_000) }],
  [
    /\b(date|day|issued|signed|created|updated|received|paid on|on|at)$/,
    { text: (draw) => dateIn(draw, -120, 0) },
  ],
  [
    /\btime\b/,
    {
      text: (draw) =>
        `${String(draw.chance.int(7, 19)).padStart(2, '0')}:${draw.oneOf(['00', '15', '30', '45']) ?? '00'}`,
    },
  ],
  [/\byear\b/, { range: [2015, 2026, 0], text: (draw) => dateIn(draw, -2_000, 0).slice(0, 4) }],
  [/\bmonth\b/, { range: [1, 12, 0] }],
  [/\b(invoice|bill)\b.*\b(number|no|id|nr|reference|ref)\b/, { text: numbered('INV') }],
  [/\b(order|po|purchase)\b.*\b(number|no|id|nr|reference|ref)\b/, { text: numbered('PO') }],
  [/\b(contract|policy|case|claim|ticket)\b.*\b(number|no|id|nr|reference|ref)\b/, { text: numbered('REF') }],
  [/\b(sku|article|part|item) ?(number|no|code|id)?$/, { text: (draw) => `SKU-${digits(draw, 5)}` }],
  [/\baccount\b.*\b(number|no)\b/, { text: (draw) => digits(draw, 10) }],
  [
    /\b(reference|ref|number|no|code|id)$/,
    {
      text: (draw) => `${draw.oneOf(['A', 'B', 'C', 'D']) ?? 'A'}-${digits(draw, 6)}`,
      range: [1_000, 99_999, 0],
    },
  ],
  [/\b(country|nation)\b.*\bcode\b/, { text: 'country_code' }],
  [/\bcountry\b/, { text: 'country' }],
  [/\b(city|town)\b/, { text: 'city' }],
  [/\b(zip|postal|postcode)\b/, { text: 'zip' }],
  [/\b(state|province|region)\b/, { text: 'state' }],
  [/\b(street|address line|line 1)\b/, { text: 'street' }],
  [
    /\b(address|location)\b/,
    { text: (draw) => `${fake(draw, 'street')}, ${fake(draw, 'zip')} ${fake(draw, 'city')}` },
  ],
  [/\b(first|given) name\b/, { text: 'first_name' }],
  [/\b(last|family|sur) ?name\b/, { text: 'last_name' }],
  [/\b(user|login)( ?name)?$/, { text: 'user' }],
  [/\b(file|document) ?name\b/, { text: 'file' }],
  [
    /\b(vendor|supplier|seller|company|customer|client|buyer|employer|bank|issuer|organi[sz]ation|payee|payer|carrier)\b/,
    { text: 'company' },
  ],
  [
    /\b(contact|person|author|owner|manager|employee|patient|tenant|landlord|signatory|recipient|sender|full name|approved by|signed by)\b/,
    { text: 'person' },
  ],
  [/\b(job|role|position|occupation)\b/, { text: 'job' }],
  [/\b(department|category|division)\b/, { text: 'department' }],
  [/\b(product|item|article|goods|material)\b/, { text: 'product' }],
  [/\b(summary|description|notes?|comments?|remarks?|details|text)\b/, { text: 'sentence' }],
  [/\b(title|subject|headline|topic|project)\b/, { text: 'phrase' }],
  [
    /\bpayment (terms|method)\b/,
    { text: among('30 days net', '14 days net', 'bank transfer', 'direct debit') },
  ],
  [/\bstatus\b/, { text: among('open', 'paid', 'overdue', 'closed') }],
  [/\bunit$|\buom\b/, { text: among('pcs', 'kg', 'h', 'm', 'l') }],
  [/\blanguage\b/, { text: among('en', 'de', 'fr', 'es') }],
  [/\bname$/, { text: 'person' }],
  [/\b(rate|percent\w*|discount percent|share)\b/, { range: [0, 25, 1] }],
  [/\b(confidence|score|probability|likelihood)\b/, { range: [0, 1, 2] }],
  [/\b(quantity|qty|count|pieces|units?|pages?|items?|number of \w+)\b/, { range: [1, 40, 0] }],
  [/\b(unit price|price|rate|fee|cost)\b/, { range: [2, 900, 2] }],
  [/\b(tax|vat|discount|shipping)\b/, { range: [1, 400, 2] }],
  [
    /\b(total|amount|sum|subtotal|net|gross|balance|due|value|salary|revenue|budget)\b/,
    { range: [50, 9_500, 2] },
  ],
  [/\bage\b/, { range: [18, 90, 0] }],
  [/\b(days|weeks|months|hours|minutes|duration)\b/, { range: [1, 60, 0] }],
  [/\b(weight|length|width|height|distance|area)\b/, { range: [1, 250, 1] }],
  [/\blat(itude)?\b/, { range: [-60, 60, 5] }],
  [/\b(lon|lng|longitude)\b/, { range: [-150, 150, 5] }],
]

/** `invoiceDate`, `invoice_date` and `Invoice date` are the same words. */
function wordsOf(text: string): string {
  return text
    .slice(0, 200)
    .replaceAll(/([a-z\d])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z\d]+/)
    .join(' ')
    .trim()
}

/** The hints of a name, then those of a description. */
function hintsFor(...texts: readonly string[]): Hint[] {
  const fitting = (words: string) => HINTS.filter(([expression]) => expression.test(words))
  return texts.map(wordsOf).flatMap((words) => fitting(words).map(([, hint]) => hint))
}

/** How to make the text of a property, by its name or else its description; undefined when neither has a hint. */
export function hintedText(name: string, description: string): TextHint | undefined {
  return hintsFor(name, description).find(({ text }) => text !== undefined)?.text
}

/** The range that the numbers of a property usually have, and their decimals. */
export function plausibleRange(name: string, description: string) {
  const range = hintsFor(name, description).find((hint) => hint.range !== undefined)?.range
  if (range === undefined) return undefined
  const [from, to, decimals] = range
  return { from, to, decimals }
}
