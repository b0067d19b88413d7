import type { Faker } from '@faker-js/faker'
import { load } from '../core/load.ts'
import { memoize } from '../core/memoize.ts'
import type { Draw } from './draw.ts'

/** Cities that exist, with a postal code of each: faker's are invented. */
export const PLACES = [
  ['Portland', 'Oregon', '97205'],
  ['Denver', 'Colorado', '80202'],
  ['Boston', 'Massachusetts', '02110'],
  ['Austin', 'Texas', '78701'],
  ['Seattle', 'Washington', '98101'],
  ['Chicago', 'Illinois', '60601'],
  ['Phoenix', 'Arizona', '85004'],
  ['Atlanta', 'Georgia', '30303'],
].map(([city = '', state = '', zip = '']) => ({ city, state, zip }))

const placeOf = (faker: Faker) => faker.helpers.arrayElement(PLACES)

// Faker is loaded with the first kind.

/** Kinds of values from faker. The values of a kind are generated once, with a fixed seed, and then picked from. */
const KINDS = {
  city: (faker) => placeOf(faker).city,
  company: (faker) => faker.company.name(),
  country: (faker) => faker.location.country(),
  country_code: (faker) => faker.location.countryCode(),
  category: (faker) => faker.commerce.department(),
  domain: (faker) => `${faker.word.noun().replaceAll(/[^a-z]/g, '')}.example.com`,
  email: (faker) => faker.internet.exampleEmail().toLowerCase(),
  file: (faker) => `${faker.word.noun()}.pdf`,
  first_name: (faker) => faker.person.firstName(),
  iban: (faker) => faker.finance.iban(),
  job: (faker) => faker.person.jobTitle(),
  last_name: (faker) => faker.person.lastName(),
  person: (faker) => faker.person.fullName(),
  phone: (faker) => faker.phone.number({ style: 'international' }),
  state: (faker) => placeOf(faker).state,
  street: (faker) => faker.location.streetAddress(),
  user: (faker) => faker.internet.username().toLowerCase(),
  word: (faker) => faker.word.noun(),
  zip: (faker) => placeOf(faker).zip,
} satisfies Record<string, (faker: Faker) => string>

export type FakeKind = keyof typeof KINDS

const POOL_SIZE = 40

const poolOf = memoize((kind) => {
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

const plainWord = (draw: Draw): string => fake(draw, 'word').replaceAll(/[^a-z]/g, '') || 'word'

/** The address of a person, by the name. */
export function mailOf(person: string): string {
  return `${(person.toLowerCase().match(/[a-z]+/g) ?? []).join('.')}@example.com`
}

export const PARTS = ['Mounting bracket', 'Base plate', 'Drive shaft', 'Cover plate', 'Bearing housing']
const REMARKS =
  'All pages are signed and complete.|The amounts agree with the order.|Two pages are hard to read.|No action is needed.'
const PRODUCTS =
  'Table lamp|Office chair|Copy paper|Printer toner|Safety gloves|Coffee beans|Power cable|Cordless drill|Notebook|Extension lead'
const SUBJECTS =
  'Annual maintenance|Office renovation|Delivery schedule|Change of address|Warehouse extension|Request for an offer|Site meeting'

/** The first row whose expression matches the words of a name applies. */
const HINTS: readonly (readonly [words: RegExp, hint: Hint])[] = [
  [/\biban\b/, { text: 'iban' }],
  [/\b(bic|swift)\b/, { text: among('EXMPDEFF', 'SMPLFRPPXXX', 'DEMOGB2L', 'TESTNL2A', 'EXMPCHZZ80A') }],
  [/\bslug\b/, { text: (draw) => `${plainWord(draw)}-${plainWord(draw)}` }],
  [/\bcurrency\b/, { text: among('EUR', 'USD', 'GBP', 'CHF', 'SEK', 'CAD') }],
  [/\be ?mail\b/, { text: 'email' }],
  [/\b(phone|mobile|telephone|fax)\b/, { text: 'phone' }],
  [/\b(url|website|link|homepage)\b/, { text: (draw) => `https://${fake(draw, 'domain')}/` }],
  [/\b(vat|tax) (id|number|no)\b/, { text: (draw) => `DE${digits(draw, 9)}` }],
  [/\b(invoice|bill|issue) date$/, { text: (draw) => dateIn(draw, -30, 0) }],
  [/\bdue( (date|day|on|at))?$/, { text: (draw) => dateIn(draw, 1, 30) }],
  [/\b(departure|check in|period start)\b/, { text: (draw) => dateIn(draw, -40, -31) }],
  [/\b(arrival|check out|period end)\b/, { text: (draw) => dateIn(draw, -30, -15) }],
  [/\breading date$/, { text: (draw) => dateIn(draw, -3, 0) }],
  [
    /^(end|to|(valid )?until|(end|termination|expir\w*|move out)( (date|day|on|at))?)$/,
    { text: (draw) => dateIn(draw, 150, 390) },
  ],
  [
    /\b(next \w+|due|expir\w*|deadline|delivery|valid until|renewal)( (date|day|on|at))?$/,
    { text: (draw) => dateIn(draw, 1, 60) },
  ],
  [/\b(birth|born)\b/, { text: (draw) => dateIn(draw, -27_000, -7_000) }],
  [/\b\w+(ed|wn) by$|\b(cashier|inspector|driver|surveyor|doctor)\b/, { text: 'person' }],
  [/\bscale\b/, { text: among('1:1', '1:2', '1:5', '1:10', '1:50', '1:100') }],
  [/\b(sheet|paper) (size|format)\b/, { text: among('A4', 'A3', 'A2', 'A1') }],
  [/\brevision\b/, { text: among('A', 'B', 'C', 'D'), range: [1, 9, 0] }],
  [/\binco ?terms?\b/, { text: among('EXW', 'FCA', 'DAP', 'DDP') }],
  [/\b(law|jurisdiction)\b/, { text: among('Germany', 'France', 'Ireland', 'Sweden') }],
  [/\btemperature\b/, { range: [-10, 40, 1] }],
  [/\brooms?\b/, { range: [1, 8, 0] }],
  [/\btolerance\b/, { range: [0.01, 0.5, 2] }],
  [/\bpart name$/, { text: among(...PARTS) }],
  [/\b(product|item) name$/, { text: among(...PRODUCTS.split('|')) }],
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
  [/\bmonth\b/, { range: [1, 12, 0], text: (draw) => dateIn(draw, -31, -4).slice(0, 7) }],
  [/\b(invoice|bill)\b.*\b(number|no|id|nr|reference|ref)\b/, { text: numbered('INV') }],
  [/\b(order|po|purchase)\b.*\b(number|no|id|nr|reference|ref)\b/, { text: numbered('PO') }],
  [/\b(contract|policy|case|claim|ticket)\b.*\b(number|no|id|nr|reference|ref)\b/, { text: numbered('REF') }],
  [/\b(sku|article|part|item) ?(number|no|code|id)?$/, { text: (draw) => `SKU-${digits(draw, 5)}` }],
  [/\b(zip|postal|postcode)\b/, { text: 'zip' }],
  [/\baccount( (number|no))?$/, { text: (draw) => digits(draw, 10) }],
  [
    /\b(reference|ref|number|no|code|id)$/,
    {
      text: (draw) => `${draw.oneOf(['A', 'B', 'C', 'D']) ?? 'A'}-${digits(draw, 6)}`,
      range: [1_000, 99_999, 0],
    },
  ],
  [/\b(country|nation)\b.*\bcode\b/, { text: 'country_code' }],
  [/\bcountry\b/, { text: 'country' }],
  [/\bcountry\b/, { text: 'country_code' }],
  [/\b(city|town)\b/, { text: 'city' }],
  [/\b(state|province|region)\b/, { text: 'state' }],
  [/\b(street|address line|line 1)\b/, { text: 'street' }],
  [
    /\b(address|location|(ship|bill|deliver) to)\b/,
    {
      text: (draw) => {
        const { city, zip } = draw.oneOf(PLACES) ?? { city: '', zip: '' }
        return `${fake(draw, 'street')}, ${zip} ${city}`
      },
    },
  ],
  [/\b(first|given) name\b/, { text: 'first_name' }],
  [/\b(last|family|sur) ?name\b/, { text: 'last_name' }],
  [/\b(user|login)( ?name)?$/, { text: 'user' }],
  [/\b(file|document) ?name\b/, { text: 'file' }],
  [
    /\b(vendor|supplier|seller|merchant|shop|store|company|customer|client|buyer|employer|bank|issuer|organi[sz]ation|payee|payer|carrier|party|counterparty|contractor|site)\b/,
    { text: 'company' },
  ],
  [
    /\b(contact|person|author|owner|manager|employee|patient|tenant|landlord|signatory|recipient|sender|full name|approved by|signed by)\b/,
    { text: 'person' },
  ],
  [/\b(job|role|position|occupation)\b/, { text: 'job' }],
  [/\b(department|division)\b/, { text: among('Sales', 'Finance', 'Engineering', 'Purchasing') }],
  [/\bcategory\b/, { text: 'category' }],
  [/\bmaterial\b/, { text: among('steel', 'aluminium', 'brass', 'PVC') }],
  [/\b(product|item|article|goods)\b/, { text: among(...PRODUCTS.split('|')) }],
  [
    /\b(summary|findings?|observations?|defects?|notes?|comments?|remarks?)\b/,
    { text: among(...REMARKS.split('|')) },
  ],
  [/\bdescription\b/, { text: among(...PRODUCTS.split('|')) }],
  [/\b(details|text)\b/, { text: among(...REMARKS.split('|')) }],
  [
    /\bproject$/,
    { text: among('Office renovation', 'Warehouse extension', 'Roof repair', 'Data migration') },
  ],
  [/\b(title|subject|headline|topic|project)\b/, { text: among(...SUBJECTS.split('|')) }],
  [/\bpayment terms\b/, { text: among('30 days net', '14 days net', 'due on receipt') }],
  [/\bpayment method\b/, { text: among('bank transfer', 'direct debit', 'card') }],
  [/\bstatus\b/, { text: among('open', 'paid', 'overdue', 'closed') }],
  [/\bunit$|\buom\b/, { text: among('pcs', 'kg', 'h', 'm', 'l') }],
  [/\blanguage\b/, { text: among('en', 'de', 'fr', 'es') }],
  [/\bname$/, { text: 'person' }],
  [/\b(vat|tax) (rate|percent)/, { range: [19, 19.5, 0] }],
  [/\bhumidity\b/, { range: [30, 80, 1] }],
  [/\b(rate|percent\w*|discount percent|share)\b/, { range: [0, 25, 1] }],
  [/\bconfidence\b/, { range: [0.6, 0.99, 2] }],
  [/\b(score|probability|likelihood)\b/, { range: [0, 1, 2] }],
  [/\b(quantity|qty|count|pieces|units?|pages?|items?|number of \w+)\b/, { range: [1, 40, 0] }],
  [/\bweight\b/, { range: [1, 250, 1] }],
  [/\bsalary\b/, { range: [28_000, 95_000, 0] }],
  [/\b(net|gross) pay\b/, { range: [2_100, 5_900, 2] }],
  [/\b(rent|deposit|premium|(annual|yearly) fee)\b/, { range: [450, 2_500, 2] }],
  [/\bcoverage\b/, { range: [20_000, 500_000, 0] }],
  [/\b(unit price|price|rate|fee|cost)\b/, { range: [2, 240, 2] }],
  [/\b(tax|vat|discount|shipping)\b/, { range: [1, 400, 2] }],
  [
    /\b(total|amount|sum|subtotal|net|gross|balance|due|value|pay|revenue|budget)\b/,
    { range: [50, 9_500, 2] },
  ],
  [/\bage\b/, { range: [18, 90, 0] }],
  [/\bhours worked\b/, { range: [120, 176, 0] }],
  [/\b(years|hours)\b/, { range: [1, 20, 0] }],
  [/\b(days|weeks|months|hours|minutes|duration)\b/, { range: [1, 60, 0] }],
  [/\b(length|width|height|distance|area)\b/, { range: [1, 250, 1] }],
  [/\blat(itude)?\b/, { range: [-60, 60, 5] }],
  [/\b(lon|lng|longitude)\b/, { range: [-150, 150, 5] }],
]

const hex =
  (...counts: readonly number[]) =>
  ({ chance }: Draw): string =>
    counts
      .map((count) => Array.from({ length: count }, () => chance.int(0, 15).toString(16)).join(''))
      .join('-')

const network = (draw: Draw): string => `198.51.${digits(draw, 1)}.0/24`

/** The formats that generators of schemas write beside those of the standard. Validators ignore them. */
const FORMAT_HINTS: ReadonlyMap<string, TextHint> = new Map<string, TextHint>([
  ...[1, 3, 4, 5, 6, 7, 8].map(
    (n) =>
      [`uuid${n}`, (draw: Draw) => `${hex(8, 4)(draw)}-${n}${hex(3)(draw)}-a${hex(3, 12)(draw)}`] as const,
  ),
  ['guid', (draw) => `${hex(8, 4)(draw)}-4${hex(3)(draw)}-a${hex(3, 12)(draw)}`],
  ['ulid', (draw) => `01J${digits(draw, 7)}${digits(draw, 8)}${digits(draw, 8)}`],
  ['cuid', (draw) => `c${hex(24)(draw)}`],
  ['cuid2', (draw) => `c${hex(23)(draw)}`],
  ['e164', 'phone'],
  ['phone', 'phone'],
  ['cidrv4', network],
  ['ipv4network', network],
  ['file-path', (draw) => `/documents/${fake(draw, 'file')}`],
  ['name-email', (draw) => [fake(draw, 'person')].map((person) => `${person} <${mailOf(person)}>`).join()],
])

/** As {@link hintedText}, by a format that is not of the standard. */
export function formatHint(formats: readonly string[]): TextHint | undefined {
  return formats.map((name) => FORMAT_HINTS.get(name)).find((hint) => hint !== undefined)
}

/** A text of a hint. */
export function hinted(draw: Draw, hint: TextHint): string {
  return typeof hint === 'function' ? hint(draw) : fake(draw, hint)
}

const ISO_DATE = /^\d{4}-\d\d-\d\d$/

/** Texts that a property with a pattern may have, the most likely first: of its hint, dates in other forms, numbers of its range. */
export function plausibleTexts(
  draw: Draw,
  hint: TextHint | undefined,
  range: ReturnType<typeof plausibleRange>,
  pattern: string,
): string[] {
  const text = hint === undefined ? '' : hinted(draw, hint)
  const isDated = /(\\d|\[0-9\])\{4\}/.test(pattern) && /(\\d|\[0-9\])\{2\}|0\[1-9\]/.test(pattern)
  const texts = text === '' ? [] : [text]
  if (ISO_DATE.test(text) || isDated) {
    const date = ISO_DATE.test(text) ? text : dateIn(draw, -120, 0)
    const [year, month, day] = date.split('-')
    texts.push(date, `${date}T09:15:00Z`, `${date} 09:15`)
    for (const sign of ['/', '.', '-'])
      texts.push([day, month, year].join(sign), [month, day, year].join(sign), [year, month, day].join(sign))
    texts.push(`${year}${month}${day}`, `${year}-${month}`, `${month}/${year}`)
  }
  if (range === undefined) return texts
  const number = range.from + draw.chance.next() * (range.to - range.from)
  return [...texts, number.toFixed(range.decimals), number.toFixed(2), number.toFixed(0)]
}

/** `invoiceDate`, `invoice_date` and `Invoice date` are the same words. */
export function nameWords(text: string): string {
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
  return texts.map(nameWords).flatMap((words) => fitting(words).map(([, hint]) => hint))
}

/** How to make the text of a property, by its name or else its description; undefined when neither has a hint. */
export function hintedText(name: string, description: string): TextHint | undefined {
  return hintedTexts(name, description)[0]
}

/** All of these, the most likely first: a short text may need another one. */
export function hintedTexts(name: string, description: string): TextHint[] {
  return hintsFor(name, description).flatMap(({ text }) => text ?? [])
}

/** The range that the numbers of a property usually have, and their decimals. */
export function plausibleRange(name: string, description: string) {
  const range = hintsFor(name, description).find((hint) => hint.range !== undefined)?.range
  if (range === undefined) return undefined
  const [from, to, decimals] = range
  return { from, to, decimals }
}
