import { ownValue } from '../core/json.ts'
import type { Draw } from './draw.ts'
import { dateIn, fake, ISO_DATE, type TextHint, word } from './hints.ts'
import type { Lengths } from './pattern-text.ts'

/** How texts of one `format` are made. */
interface Format {
  make(draw: Draw, hint: TextHint | undefined): string
  /** The text extended by `more` characters, if the format allows that. */
  grow?(text: string, more: number): string
  /** More texts of the format, of other lengths; `grow` can start from the first. */
  readonly others?: readonly string[]
  /** The most characters that the format allows. */
  readonly max?: number
  /** Whether validators agree on a text for the format. Absent: on each. */
  isCertain?(text: string): boolean
}

const two = (number: number): string => String(number).padStart(2, '0')

const time = ({ chance }: Draw): string =>
  `${two(chance.int(7, 19))}:${two(chance.int(0, 59))}:${two(chance.int(0, 59))}Z`

const fraction = (text: string, more: number): string =>
  more === 1 ? text : text.replace('Z', `.${'0'.repeat(more - 1)}Z`)

const hex = ({ chance }: Draw, length: number): string =>
  chance
    .int(0, 16 ** length - 1)
    .toString(16)
    .padStart(length, '0')

const uuid = (draw: Draw): string => {
  const [variant, node] = [draw.oneOf(['8', '9', 'a', 'b']) ?? '8', hex(draw, 6) + hex(draw, 6)]
  return `${hex(draw, 8)}-${hex(draw, 4)}-4${hex(draw, 3)}-${variant}${hex(draw, 3)}-${node}`
}

const date = (draw: Draw, hint: TextHint | undefined): string => {
  const made = typeof hint === 'function' ? hint(draw) : ''
  return ISO_DATE.test(made) ? made : dateIn(draw, -120, 0)
}

/** A format of texts that may end in any letters. */
const growing = (make: (draw: Draw) => string, ...others: readonly string[]): Format => ({
  make,
  grow: (text, more) => text + 'a'.repeat(more),
  others,
})
const prepend = (text: string, more: number): string => 'a'.repeat(more) + text

// A label holds at most 63 characters, so that a long name gets more labels.
const moreLabels = (text: string, more: number): string => {
  if (more === 1) return `a${text}`
  const label = Math.min(more, 40)
  const longer = `${'a'.repeat(label - 1)}.${text}`
  return more === label ? longer : moreLabels(longer, more - label)
}

const DATE_TIME: Format = { make: (draw, hint) => `${date(draw, hint)}T${time(draw)}`, grow: fraction }
const TIME: Format = { make: time, grow: fraction }
/** Characters before the @ of an email address. */
const MAX_LOCAL = 64
const MAX_DOMAIN = 253

const EMAIL: Format = {
  make: (draw) => fake(draw, 'email'),
  grow: (text, more) => {
    const [local = '', domain = ''] = text.split('@')
    const before = Math.min(more, MAX_LOCAL - local.length)
    const longer = before === more ? domain : moreLabels(domain, more - before)
    return `${prepend(local, before)}@${longer}`
  },
  others: ['a@b.c'],
  max: MAX_LOCAL + 1 + MAX_DOMAIN,
}
const HOSTNAME: Format = {
  make: (draw) => fake(draw, 'domain'),
  grow: moreLabels,
  others: ['a'],
  max: MAX_DOMAIN,
}
const address = (draw: Draw): string =>
  `https://${fake(draw, 'domain')}/${word(draw)}/${draw.chance.int(1, 999)}`
const URI = growing(address, 'a:/')
const REFERENCE = growing((draw) => `/${word(draw)}/${word(draw)}`, '/', '')
const PLAIN = growing((draw) => `${word(draw)} ${word(draw)}`, '')

/** Formats by name. Other formats are not checked: any text satisfies them. */
const FORMATS: Readonly<Record<string, Format>> = {
  binary: PLAIN,
  byte: {
    make: (draw) => hex(draw, 8) + hex(draw, 8),
    grow: (text, more) => text + 'a'.repeat(Math.ceil(more / 4) * 4),
    others: [''],
  },
  date: { make: date },
  'date-time': DATE_TIME,
  duration: {
    make: ({ chance }) => `P${chance.int(1, 28)}DT${chance.int(1, 23)}H`,
    grow: (text, more) => text.replace('P', `P${'0'.repeat(more)}`),
    others: ['P1D'],
  },
  email: EMAIL,
  hostname: HOSTNAME,
  'idn-email': EMAIL,
  'idn-hostname': HOSTNAME,
  ipv4: {
    make: ({ chance }) => `198.51.100.${chance.int(1, 254)}`,
    others: ['1.1.1.1', '10.0.0.1', '192.0.2.1', '192.0.2.10', '203.0.113.100', '192.168.100.100'],
  },
  ipv6: {
    make: (draw) => `2001:db8::${hex(draw, 4)}`,
    others: ':: ::1 ::ab ::abc ::abcd 2001:db8::1 2001:0db8:0000:0000:0000:0000:0000:0001'.split(' '),
  },
  iri: URI,
  'iri-reference': REFERENCE,
  'iso-date-time': DATE_TIME,
  'iso-time': TIME,
  'json-pointer': growing((draw) => `/${word(draw)}/${draw.chance.int(0, 9)}`, '/', ''),
  'json-pointer-uri-fragment': growing((draw) => `#/${word(draw)}`, '#/', '#'),
  password: PLAIN,
  regex: {
    make: (draw) => `^${word(draw)}-[0-9]+$`,
    grow: prepend,
    others: [''],
    isCertain: isUnicodeRegex,
  },
  'relative-json-pointer': growing((draw) => `${draw.chance.int(0, 3)}/${word(draw)}`, '0/', '0'),
  time: TIME,
  uri: URI,
  'uri-reference': REFERENCE,
  'uri-template': {
    make: (draw) => `/${word(draw)}/{${word(draw)}}`,
    grow: (text, more) => `/${'a'.repeat(more - 1)}${text}`,
    others: ['/', ''],
  },
  url: growing(address, 'http://a.test/'),
  uuid: { make: uuid, others: ['urn:uuid:0b0e6c8e-6a3f-4f0b-9d2a-5c1f7e8a9b10'] },
}

// Ajv also accepts expressions such as `{2y`, which are not valid with the flag `u`. Other validators set it.
function isUnicodeRegex(text: string): boolean {
  try {
    new RegExp(text, 'u')
    return true
  } catch {
    return false
  }
}

/** The format of that name; undefined for an unknown one, which any text satisfies. */
export function formatOf(name: string): Format | undefined {
  return ownValue(FORMATS, name)
}

/** A text of the format with `min` to `max` characters: a usual one first, others on later tries. */
export function formattedText(
  format: Format,
  draw: Draw,
  hint: TextHint | undefined,
  [min, max]: Lengths,
  tries: number,
): string | undefined {
  const most = Math.min(max, format.max ?? Infinity)
  const { others = [], grow } = format
  const all = [format.make(draw, hint), ...others]
  for (const text of tries === 0 ? all : [draw.oneOf(all) ?? '']) {
    const short = min - text.length
    const grown = short > 0 && grow !== undefined ? grow(text, short) : text
    if (grown.length >= min && grown.length <= most) return grown
  }
  return undefined
}
