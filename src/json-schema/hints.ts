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

/** The numbers of a property, with so many decimals at most. */
type RangeHint = readonly [from: number, to: number, decimals: number]
type Hint = TextHint | RangeHint

function among(...texts: readonly string[]) {
  return (draw: Draw): string => draw.oneOf(texts) ?? ''
}

const DAY = 86_400_000

/** A random calendar date, `from` to `to` days from now. */
export function dateIn(draw: Draw, from: number, to: number): string {
  const day = Math.floor(draw.now / DAY) + draw.chance.int(from, to)
  return new Date(day * DAY).toISOString().slice(0, 10)
}

function dated(from: number, to: number) {
  return (draw: Draw): string => dateIn(draw, from, to)
}

function digits({ chance }: Draw, count: number): string {
  return String(chance.int(0, 10 ** count - 1)).padStart(count, '0')
}

function numbered(prefix: string) {
  return (draw: Draw): string => `${prefix}-${dateIn(draw, 0, 0).slice(0, 4)}-${digits(draw, 5)}`
}

/** A word of small letters only. */
export const word = (draw: Draw): string =>
  fake(draw, 'word')
    .toLowerCase()
    .replaceAll(/[^a-z]/g, '') || 'word'

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
const HINTS: readonly (readonly [words: RegExp, ...hints: Hint[]])[] = [
  [/\biban\b/, 'iban'],
  [/\b(bic|swift)\b/, among('EXMPDEFF', 'SMPLFRPPXXX', 'DEMOGB2L', 'TESTNL2A', 'EXMPCHZZ80A')],
  [/\bslug\b/, (draw) => `${word(draw)}-${word(draw)}`],
  [/\bcurrency\b/, among('EUR', 'USD', 'GBP', 'CHF', 'SEK', 'CAD')],
  [/\be ?mail\b/, 'email'],
  [/\b(phone|mobile|telephone|fax)\b/, 'phone'],
  [/\b(url|website|link|homepage)\b/, (draw) => `https://${fake(draw, 'domain')}/`],
  [/\b(vat|tax) (id|number|no)\b/, (draw) => `DE${digits(draw, 9)}`],
  [/\b(invoice|bill|issue) date$/, dated(-30, 0)],
  [/\bdue( (date|day|on|at))?$/, dated(1, 30)],
  [/\b(departure|check in|period start)\b/, dated(-40, -31)],
  [/\b(arrival|check out|period end)\b/, dated(-30, -15)],
  [/\breading date$/, dated(-3, 0)],
  [/^(end|to|(valid )?until|(end|termination|expir\w*|move out)( (date|day|on|at))?)$/, dated(150, 390)],
  [/\b(next \w+|due|expir\w*|deadline|delivery|valid until|renewal)( (date|day|on|at))?$/, dated(1, 60)],
  [/\b(birth|born)\b/, dated(-27_000, -7_000)],
  [/\b\w+(ed|wn) by$|\b(cashier|inspector|driver|surveyor|doctor)\b/, 'person'],
  [/\bscale\b/, among('1:1', '1:2', '1:5', '1:10', '1:50', '1:100')],
  [/\b(sheet|paper) (size|format)\b/, among('A4', 'A3', 'A2', 'A1')],
  [/\brevision\b/, among('A', 'B', 'C', 'D'), [1, 9, 0]],
  [/\binco ?terms?\b/, among('EXW', 'FCA', 'DAP', 'DDP')],
  [/\b(law|jurisdiction)\b/, among('Germany', 'France', 'Ireland', 'Sweden')],
  [/\btemperature\b/, [-10, 40, 1]],
  [/\brooms?\b/, [1, 8, 0]],
  [/\btolerance\b/, [0.01, 0.5, 2]],
  [/\bpart name$/, among(...PARTS)],
  [/\b(product|item) name$/, among(...PRODUCTS.split('|'))],
  [/\b(date|day|issued|signed|created|updated|received|paid on|on|at)$/, dated(-120, 0)],
  [
    /\btime\b/,
    (draw) =>
      `${String(draw.chance.int(7, 19)).padStart(2, '0')}:${draw.oneOf(['00', '15', '30', '45']) ?? '00'}`,
  ],
  [/\byear\b/, [2015, 2026, 0], (draw) => dateIn(draw, -2_000, 0).slice(0, 4)],
  [/\bmonth\b/, [1, 12, 0], (draw) => dateIn(draw, -31, -4).slice(0, 7)],
  [/\b(invoice|bill)\b.*\b(number|no|id|nr|reference|ref)\b/, numbered('INV')],
  [/\b(order|po|purchase)\b.*\b(number|no|id|nr|reference|ref)\b/, numbered('PO')],
  [/\b(contract|policy|case|claim|ticket)\b.*\b(number|no|id|nr|reference|ref)\b/, numbered('REF')],
  [/\b(sku|article|part|item) ?(number|no|code|id)?$/, (draw) => `SKU-${digits(draw, 5)}`],
  [/\b(zip|postal|postcode)\b/, 'zip'],
  [/\baccount( (number|no))?$/, (draw) => digits(draw, 10)],
  [
    /\b(reference|ref|number|no|code|id)$/,
    (draw) => `${draw.oneOf(['A', 'B', 'C', 'D']) ?? 'A'}-${digits(draw, 6)}`,
    [1_000, 99_999, 0],
  ],
  [/\b(country|nation)\b.*\bcode\b/, 'country_code'],
  [/\bcountry\b/, 'country'],
  [/\bcountry\b/, 'country_code'],
  [/\b(city|town)\b/, 'city'],
  [/\b(state|province|region)\b/, 'state'],
  [/\b(street|address line|line 1)\b/, 'street'],
  [
    /\b(address|location|(ship|bill|deliver) to)\b/,
    (draw) => {
      const { city, zip } = draw.oneOf(PLACES) ?? { city: '', zip: '' }
      return `${fake(draw, 'street')}, ${zip} ${city}`
    },
  ],
  [/\b(first|given) name\b/, 'first_name'],
  [/\b(last|family|sur) ?name\b/, 'last_name'],
  [/\b(user|login)( ?name)?$/, 'user'],
  [/\b(file|document) ?name\b/, 'file'],
  [
    /\b(vendor|supplier|seller|merchant|shop|store|company|customer|client|buyer|employer|bank|issuer|organi[sz]ation|payee|payer|carrier|party|counterparty|contractor|site)\b/,
    'company',
  ],
  [
    /\b(contact|person|author|owner|manager|employee|patient|tenant|landlord|signatory|recipient|sender|full name|approved by|signed by)\b/,
    'person',
  ],
  [/\b(job|role|position|occupation)\b/, 'job'],
  [/\b(department|division)\b/, among('Sales', 'Finance', 'Engineering', 'Purchasing')],
  [/\bcategory\b/, 'category'],
  [/\bmaterial\b/, among('steel', 'aluminium', 'brass', 'PVC')],
  [/\b(product|item|article|goods)\b/, among(...PRODUCTS.split('|'))],
  [/\b(summary|findings?|observations?|defects?|notes?|comments?|remarks?)\b/, among(...REMARKS.split('|'))],
  [/\bdescription\b/, among(...PRODUCTS.split('|'))],
  [/\b(details|text)\b/, among(...REMARKS.split('|'))],
  [/\bproject$/, among('Office renovation', 'Warehouse extension', 'Roof repair', 'Data migration')],
  [/\b(title|subject|headline|topic|project)\b/, among(...SUBJECTS.split('|'))],
  [/\bpayment terms\b/, among('30 days net', '14 days net', 'due on receipt')],
  [/\bpayment method\b/, among('bank transfer', 'direct debit', 'card')],
  [/\bstatus\b/, among('open', 'paid', 'overdue', 'closed')],
  [/\bunit$|\buom\b/, among('pcs', 'kg', 'h', 'm', 'l')],
  [/\blanguage\b/, among('en', 'de', 'fr', 'es')],
  [/\bname$/, 'person'],
  [/\b(vat|tax) (rate|percent)/, [19, 19.5, 0]],
  [/\bhumidity\b/, [30, 80, 1]],
  [/\b(rate|percent\w*|discount percent|share)\b/, [0, 25, 1]],
  [/\bconfidence\b/, [0.6, 0.99, 2]],
  [/\b(score|probability|likelihood)\b/, [0, 1, 2]],
  [/\b(quantity|qty|count|pieces|units?|pages?|items?|number of \w+)\b/, [1, 40, 0]],
  [/\bweight\b/, [1, 250, 1]],
  [/\bsalary\b/, [28_000, 95_000, 0]],
  [/\b(net|gross) pay\b/, [2_100, 5_900, 2]],
  [/\b(rent|deposit|premium|(annual|yearly) fee)\b/, [450, 2_500, 2]],
  [/\bcoverage\b/, [20_000, 500_000, 0]],
  [/\b(unit price|price|rate|fee|cost)\b/, [2, 240, 2]],
  [/\b(tax|vat|discount|shipping)\b/, [1, 400, 2]],
  [/\b(total|amount|sum|subtotal|net|gross|balance|due|value|pay|revenue|budget)\b/, [50, 9_500, 2]],
  [/\bage\b/, [18, 90, 0]],
  [/\bhours worked\b/, [120, 176, 0]],
  [/\b(years|hours)\b/, [1, 20, 0]],
  [/\b(days|weeks|months|hours|minutes|duration)\b/, [1, 60, 0]],
  [/\b(length|width|height|distance|area)\b/, [1, 250, 1]],
  [/\blat(itude)?\b/, [-60, 60, 5]],
  [/\b(lon|lng|longitude)\b/, [-150, 150, 5]],
]

function hex({ chance }: Draw, count: number): string {
  return Array.from({ length: count }, () => chance.int(0, 15).toString(16)).join('')
}

function uuidOf(version: number) {
  return (draw: Draw): string =>
    `${hex(draw, 8)}-${hex(draw, 4)}-${version}${hex(draw, 3)}-a${hex(draw, 3)}-${hex(draw, 12)}`
}

const network = (draw: Draw): string => `198.51.${digits(draw, 1)}.0/24`

/** The formats that generators of schemas write beside those of the standard. Validators ignore them. */
const FORMAT_HINTS: ReadonlyMap<string, TextHint> = new Map<string, TextHint>([
  ...[1, 3, 4, 5, 6, 7, 8].map((version) => [`uuid${version}`, uuidOf(version)] as const),
  ['guid', uuidOf(4)],
  ['ulid', (draw) => `01J${digits(draw, 7)}${digits(draw, 8)}${digits(draw, 8)}`],
  ['cuid', (draw) => `c${hex(draw, 24)}`],
  ['cuid2', (draw) => `c${hex(draw, 23)}`],
  ['e164', 'phone'],
  ['phone', 'phone'],
  ['cidrv4', network],
  ['ipv4network', network],
  ['file-path', (draw) => `/documents/${fake(draw, 'file')}`],
  ['name-email', (draw) => [fake(draw, 'person')].map((person) => `${person} <${mailOf(person)}>`).join()],
])

/** As {@link hintedTexts}, by a format that is not of the standard. */
export function formatHint(formats: readonly string[]): TextHint | undefined {
  return formats.map((name) => FORMAT_HINTS.get(name)).find((hint) => hint !== undefined)
}

/** A text of a hint. */
export function hinted(draw: Draw, hint: TextHint): string {
  return typeof hint === 'function' ? hint(draw) : fake(draw, hint)
}

export const ISO_DATE = /^\d{4}-\d\d-\d\d$/

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
  return texts.map(nameWords).flatMap((words) => fitting(words).flatMap(([, ...hints]) => hints))
}

/** How to make the text of a property, by its name or else its description, the most likely first: a short text may need another one. */
export function hintedTexts(name: string, description: string): TextHint[] {
  return hintsFor(name, description).filter((hint) => typeof hint !== 'object')
}

/** The range that the numbers of a property usually have, and their decimals. */
export function plausibleRange(name: string, description: string) {
  const range = hintsFor(name, description).find((hint) => typeof hint === 'object')
  if (range === undefined) return undefined
  const [from, to, decimals] = range
  return { from, to, decimals }
}
