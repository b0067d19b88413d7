import type { RandomSource } from './maker.ts'
import { letters, word, words } from './text.ts'

/** How texts of one `format` are made. */
export interface Format {
  make(chance: RandomSource): string
  /** The same text made longer by `more` characters, where the format has room for that. */
  grow?(text: string, more: number, chance: RandomSource): string
  /** A short text of the format that `grow` can start from. */
  readonly base?: string
  /** More texts of the format, of other lengths. */
  readonly others?: readonly string[]
  /** The most characters that the format allows. */
  readonly max?: number
}

const DAY_MS = 86_400_000
const FIRST_DAY_MS = Date.parse('2022-01-01T00:00:00Z')
const DAYS = 1_460

const date = (chance: RandomSource): string =>
  new Date(FIRST_DAY_MS + chance.int(0, DAYS) * DAY_MS).toISOString().slice(0, 10)

const two = (number: number): string => String(number).padStart(2, '0')

const time = (chance: RandomSource): string =>
  `${two(chance.int(0, 23))}:${two(chance.int(0, 59))}:${two(chance.int(0, 59))}Z`

const fraction = (text: string, more: number): string =>
  more === 1 ? text : text.replace('Z', `.${'0'.repeat(more - 1)}Z`)

const hex = (chance: RandomSource, length: number): string => {
  let text = ''
  while (text.length < length) text += chance.int(0, 15).toString(16)
  return text
}

const uuid = (chance: RandomSource): string =>
  `${hex(chance, 8)}-${hex(chance, 4)}-4${hex(chance, 3)}-${'89ab'.charAt(chance.int(0, 3))}${hex(chance, 3)}-${hex(chance, 12)}`

const host = (chance: RandomSource): string =>
  `${word(chance)}.example.${['com', 'org', 'net'][chance.int(0, 2)]}`

const append = (text: string, more: number, chance: RandomSource): string => text + letters(more, chance)

// A label holds at most 63 characters, so a long name gets more labels.
const moreLabels = (text: string, more: number, chance: RandomSource): string => {
  if (more === 1) return `a${text}`
  const label = Math.min(more, 40)
  const longer = `${letters(label - 1, chance)}.${text}`
  return more === label ? longer : moreLabels(longer, more - label, chance)
}

const DATE_TIME: Format = { make: (chance) => `${date(chance)}T${time(chance)}`, grow: fraction }
const TIME: Format = { make: time, grow: fraction }
const EMAIL: Format = {
  make: (chance) => `${word(chance)}.${word(chance)}@example.com`,
  grow: (text, more, chance) => letters(more, chance) + text,
  base: 'a@b.c',
}
const HOSTNAME: Format = { make: host, grow: moreLabels, base: 'a', max: 253 }
const URI: Format = {
  make: (chance) => `https://${host(chance)}/${word(chance)}/${chance.int(1, 999)}`,
  grow: append,
  base: 'a:/',
}
const URI_REFERENCE: Format = {
  make: (chance) => `/${word(chance)}/${word(chance)}`,
  grow: append,
  base: '/',
  others: [''],
}
const JSON_POINTER: Format = {
  make: (chance) => `/${word(chance)}/${chance.int(0, 9)}`,
  grow: append,
  base: '/',
  others: [''],
}
const PLAIN: Format = { make: (chance) => words(chance, 0, Infinity), grow: append, base: '' }

const FORMATS: ReadonlyMap<string, Format> = new Map(
  Object.entries({
    binary: PLAIN,
    byte: {
      make: (chance) => hex(chance, 16),
      grow: (text, more, chance) => text + hex(chance, Math.ceil(more / 4) * 4),
      base: '',
    },
    date: { make: date },
    'date-time': DATE_TIME,
    duration: {
      make: (chance) => `P${chance.int(1, 28)}DT${chance.int(1, 23)}H`,
      grow: (text, more) => text.replace('P', `P${'0'.repeat(more)}`),
      base: 'P1D',
    },
    email: EMAIL,
    hostname: HOSTNAME,
    'idn-email': EMAIL,
    'idn-hostname': HOSTNAME,
    ipv4: {
      make: (chance) => `198.51.100.${chance.int(1, 254)}`,
      others: ['1.1.1.1', '10.0.0.1', '192.0.2.1', '192.0.2.10', '203.0.113.100', '192.168.100.100'],
    },
    ipv6: {
      make: (chance) => `2001:db8::${hex(chance, 4)}`,
      others: [
        '::',
        '::1',
        '::ab',
        '::abc',
        '::abcd',
        '2001:db8::1',
        '2001:0db8:0000:0000:0000:0000:0000:0001',
      ],
    },
    iri: URI,
    'iri-reference': URI_REFERENCE,
    'iso-date-time': DATE_TIME,
    'iso-time': TIME,
    'json-pointer': JSON_POINTER,
    'json-pointer-uri-fragment': {
      make: (chance) => `#/${word(chance)}`,
      grow: append,
      base: '#/',
      others: ['#'],
    },
    password: PLAIN,
    regex: {
      make: (chance) => `^${word(chance)}-[0-9]+$`,
      grow: (text, more, chance) => letters(more, chance) + text,
      base: '',
    },
    'relative-json-pointer': {
      make: (chance) => `${chance.int(0, 3)}/${word(chance)}`,
      grow: append,
      base: '0/',
      others: ['0'],
    },
    time: TIME,
    uri: URI,
    'uri-reference': URI_REFERENCE,
    'uri-template': {
      make: (chance) => `/${word(chance)}/{${word(chance)}}`,
      grow: (text, more, chance) => `/${letters(more - 1, chance)}${text}`,
      base: '/',
      others: [''],
    },
    url: {
      make: (chance) => `https://${host(chance)}/${word(chance)}/${chance.int(1, 999)}`,
      grow: append,
      base: 'http://a.test/',
    },
    uuid: { make: uuid, others: ['urn:uuid:0b0e6c8e-6a3f-4f0b-9d2a-5c1f7e8a9b10'] },
  } satisfies Record<string, Format>),
)

/** The format of that name; `undefined` for a name that nobody asserts and that any text satisfies. */
export function formatOf(name: string): Format | undefined {
  return FORMATS.get(name)
}

/** Texts of the format with `min` to `max` characters, the most ordinary first. */
export function* textsOf(format: Format, chance: RandomSource, min: number, max: number): Generator<string> {
  const most = Math.min(max, format.max ?? Infinity)
  for (const text of [format.make(chance), ...(format.base === undefined ? [] : [format.base])]) {
    const short = min - text.length
    const grown = short > 0 && format.grow !== undefined ? format.grow(text, short, chance) : text
    if (grown.length >= min && grown.length <= most) yield grown
  }
  for (const other of format.others ?? []) if (other.length >= min && other.length <= most) yield other
}
