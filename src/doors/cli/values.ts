import { FASTEST } from '../../kernel/time/clock.ts'
import { parseDuration } from '../../kernel/time/duration.ts'
import { formatInstant, parseInstant } from '../../kernel/time/instant.ts'
import { NAME_PATTERN, NAME_RULE } from '../../kernel/worlds/names.ts'
import { UsageError } from './usage.ts'

/** Why a value is refused and what to give instead; the option's name and the value are put in front. */
export class BadValue extends Error {
  override readonly name = 'BadValue'
}

/** Turns the text of an option into its value, or throws {@link BadValue}. */
export type Parse<T> = (text: string) => T

const HOST_HEADER = /^(?:\[[0-9a-f:.]+\]|[0-9a-f:.]*:[0-9a-f:.]*:[0-9a-f:.]*|[a-z0-9._-]+(?::[0-9]{1,5})?)$/i
const BIND_ADDRESS = /^(?:[a-z0-9._-]+|[0-9a-f:.]+(?:%[a-z0-9]+)?)$/i
const VISIBLE = /^[\x21-\x7e]+$/

export const text: Parse<string> = (value) => value

export const port: Parse<number> = (value) => {
  if (/^\d+$/.test(value) && Number(value) <= 65_535) return Number(value)
  throw new BadValue('is not a port. Give a whole number from 0 (any free one) to 65535.')
}

export const seed: Parse<number> = (value) => {
  if (/^\d+$/.test(value) && Number.isSafeInteger(Number(value))) return Number(value)
  throw new BadValue(`is not a seed. Give a whole number from 0 to ${Number.MAX_SAFE_INTEGER}.`)
}

export const rate: Parse<number> = (value) => {
  if (/^\d+(?:\.\d+)?$/.test(value) && Number(value) <= FASTEST) return Number(value)
  throw new BadValue(`is not a rate. Give a number from 0 (the clock stands still) to ${FASTEST}.`)
}

/** An instant, as the text that every other part understands. */
export const instant: Parse<string> = (value) => {
  const parsed = parseInstant(value)
  if (parsed !== undefined) return formatInstant(parsed.ms)
  throw new BadValue('is not an instant. Give an ISO 8601 one, such as 2026-03-01T12:00:00Z.')
}

/** Milliseconds. */
export const duration: Parse<number> = (value) => {
  const ms = parseDuration(value)
  if (ms !== undefined) return ms
  throw new BadValue('is not a duration. Give one such as 500ms, 30s, 10m, 24h or PT24H.')
}

export const onOff: Parse<boolean> = (value) => choice(['on', 'off'])(value) === 'on'

/** What the environment says of a switch; on the command line its name alone is enough. */
export const truth: Parse<boolean> = (value) => {
  const word = value.toLowerCase()
  if (['1', 'true', 'yes', 'on'].includes(word)) return true
  if (['0', 'false', 'no', 'off'].includes(word)) return false
  throw new BadValue('is neither on nor off. Give 1 or 0.')
}

/** An address or name to listen on; the brackets of an IPv6 address are taken off. */
export const bindAddress: Parse<string> = (value) => {
  const bare = /^\[(.+)\]$/.exec(value)?.[1] ?? value
  if (BIND_ADDRESS.test(bare)) return bare
  throw new BadValue('is not an address to listen on. Give one without scheme and port, such as 0.0.0.0.')
}

/** A name under which clients address the emulator, with a port if they use another than ours. */
export const hostHeader: Parse<string> = (value) => {
  if (HOST_HEADER.test(value)) return value
  throw new BadValue('is not a host. Give a name or an address, with a port if needed, such as api:8080.')
}

/** A receiver of webhooks: host and port, an IPv6 address in brackets. */
export const target: Parse<string> = (value) => {
  const [, port = '0'] = /^(?:\[[0-9a-f:.]+\]|[a-z0-9._-]+):(\d{1,5})$/i.exec(value) ?? []
  if (Number(port) >= 1 && Number(port) <= 65_535 && URL.canParse(`http://${value}`)) return value
  throw new BadValue('is not a receiver. Give host and port alone, such as receiver:8080 or [fd00::5]:8080.')
}

/** A sandbox, or a snapshot. */
export const sandboxName: Parse<string> = (value) => {
  if (NAME_PATTERN.test(value)) return value
  throw new BadValue(`is not a name. Give ${NAME_RULE}.`)
}

/** How many: 1 or more. */
export const count: Parse<number> = (value) => {
  if (/^[1-9]\d*$/.test(value) && Number.isSafeInteger(Number(value))) return Number(value)
  throw new BadValue('is not a count. Give a whole number from 1.')
}

/** A part of a whole. */
export const share: Parse<number> = (value) => {
  if (/^(?:0|1|0?\.\d+|[01]\.0*)$/.test(value)) return Number(value)
  throw new BadValue('is not a share. Give a number from 0 to 1, such as 0.25.')
}

/** An origin as browsers write it; `*` for all but the opaque one, which only `null` allows. */
export const origin: Parse<string> = (value) => {
  if (value === '*' || value === 'null') return value
  if (URL.canParse(value) && new URL(value).origin === value) return value
  throw new BadValue('is not an origin. Give scheme, host and port alone, such as https://app.example:8443.')
}

export const token: Parse<string> = (value) => {
  if (VISIBLE.test(value)) return value
  throw new BadValue('cannot be sent in a header. Give visible ASCII characters without spaces.')
}

/** Where an emulator listens. The address of its API or of its control interface will do as well. */
export const emulatorUrl: Parse<string> = (value) => {
  if (!URL.canParse(value) || !/^https?:$/.test(new URL(value).protocol)) {
    throw new BadValue('is not the address of an emulator. Give one such as http://127.0.0.1:4010.')
  }
  return value.replace(/\/+$/, '').replace(/\/(?:v1|__emulator)$/, '')
}

export function choice<const T extends string>(words: readonly T[]): Parse<T> {
  return (value) => {
    const word = words.find((each) => each === value)
    if (word !== undefined) return word
    throw new BadValue(`is unknown. Give ${words.slice(0, -1).join(', ')} or ${words.at(-1)}.`)
  }
}

/** The value of an argument. Throws {@link UsageError} when it is none. */
export function argument<T>(what: string, parse: Parse<T>, value: string): T {
  try {
    return parse(value)
  } catch (error) {
    throw error instanceof BadValue ? new UsageError([`<${what}>: "${value}" ${error.message}`]) : error
  }
}
