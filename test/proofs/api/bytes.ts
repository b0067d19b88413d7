import type { Chance } from '../../../src/core/random.ts'
import { pick } from './values.ts'

/** Tokens with a meaning for an HTTP parser. */
const TOKENS = [
  '\r\n',
  '\n',
  '\r',
  '\r\n\r\n',
  ' ',
  ':',
  '\0',
  '\t',
  'HTTP/1.1',
  'Content-Length: ',
  '0\r\n\r\n',
  'chunked',
  '%',
  '\xff',
].map((text) => Buffer.from(text, 'latin1'))

type Change = (bytes: Buffer, chance: Chance) => Buffer

const at = (bytes: Buffer, chance: Chance) => chance.int(0, Math.max(0, bytes.length - 1))

const CHANGES: readonly Change[] = [
  function flip(bytes, chance) {
    const next = Buffer.from(bytes)
    const place = at(bytes, chance)
    if (place < next.length) next[place] = (next[place] ?? 0) ^ (1 << chance.int(0, 7))
    return next
  },
  function replace(bytes, chance) {
    const next = Buffer.from(bytes)
    const place = at(bytes, chance)
    if (place < next.length) next[place] = chance.int(0, 255)
    return next
  },
  function remove(bytes, chance) {
    const from = at(bytes, chance)
    return Buffer.concat([bytes.subarray(0, from), bytes.subarray(from + chance.int(1, 8))])
  },
  function insert(bytes, chance) {
    const from = at(bytes, chance)
    return Buffer.concat([bytes.subarray(0, from), pick(chance, TOKENS), bytes.subarray(from)])
  },
  function repeat(bytes, chance) {
    const from = at(bytes, chance)
    const slice = bytes.subarray(from, from + chance.int(1, 64))
    return Buffer.concat([bytes.subarray(0, from), slice, slice, bytes.subarray(from)])
  },
  function cut(bytes, chance) {
    return bytes.subarray(0, at(bytes, chance))
  },
]

/** Applies one to four random changes to some bytes. */
export function mutateBytes(bytes: Buffer, chance: Chance): Buffer {
  let next = bytes
  const times = chance.int(1, 4)
  for (let n = 0; n < times; n++) next = pick(chance, CHANGES)(next, chance)
  return next
}
