import type { PresetCase } from './preset-case.ts'
import type { Subject } from './setup.ts'
import { dechunk, outcome, parse, split } from './views.ts'

/** Characters of two, three and four bytes in each line. */
const OUTPUT = { text: 'Brücke – 橋 – 🏗' }
const N = 4

async function results(subject: Subject): Promise<string> {
  const id = await subject.batch({ items: N, output_schema: { type: 'object' } })
  await subject.control('PATCH', `/batches/${id}`, { outcomes: [{ output: OUTPUT }] })
  await subject.control('POST', `/batches/${id}/complete`)
  return `/batch-predictions/${id}/results`
}

/** The lines of a text, split at LF: the custom_id of each, or "broken". */
function read(text: string): unknown[] {
  return text.split('\n').map((line) => (line === '' ? '' : (parse(line)?.custom_id ?? 'broken')))
}

const ALL = ['item-0', 'item-1', 'item-2', 'item-3', '']

function lines(name: string, extract: (text: string) => unknown, expected: unknown): PresetCase {
  const preset = `ndjson-${name}`
  return {
    preset,
    run: async (subject) => {
      const path = await results(subject)
      await subject.arm(preset)
      const { body, error } = await subject.call('GET', path)
      return { error, seen: extract(body ?? '') }
    },
    expected: { error: undefined, seen: expected },
  }
}

/** Reads the chunks of a body. A chunk that is sent after a wait arrives separately. */
function pieces(
  name: string,
  extract: (pieces: readonly Buffer[]) => unknown,
  expected: unknown,
): PresetCase {
  const preset = `ndjson-${name}`
  return {
    preset,
    run: async (subject) => {
      const path = await results(subject)
      await subject.arm(preset)
      const raw = await subject.raw('GET', path)
      await subject.arm(preset)
      const { body } = await subject.call('GET', path)
      const payloads = dechunk(split(raw.text).body).chunks.map((chunk) => Buffer.from(chunk, 'latin1'))
      const whole = Buffer.concat(payloads).toString() === body
      const apart = raw.pieces.length > 1
      return {
        end: raw.end,
        apart,
        whole,
        seen: extract(payloads),
        read: read((body ?? '').replaceAll('\r', '')),
      }
    },
    expected: { end: 'fin', apart: true, whole: true, seen: expected, read: ALL },
  }
}

function broken(name: string, expected: object, untilHeld = false): PresetCase {
  const preset = `ndjson-${name}`
  return {
    preset,
    run: async (subject) => {
      const path = await results(subject)
      await subject.arm(preset)
      const raw = await subject.raw('GET', path, { untilHeld })
      await subject.control('POST', `/faults/${preset}/reset`)
      const view = await subject.call('GET', path, { untilHeld })
      const { payload, ended } = dechunk(split(raw.text).body)
      const text = Buffer.from(payload, 'latin1').toString()
      const then = await subject.call('GET', path)
      return {
        end: raw.end,
        ended,
        read: read(text).length,
        client: outcome(view),
        then: read(then.body ?? ''),
      }
    },
    expected: { ...expected, then: ALL },
  }
}

const isMidCharacter = (piece: Buffer): boolean => !isUtf8(piece)

function isUtf8(piece: Buffer): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(piece)
    return true
  } catch {
    return false
  }
}

export const lineCases: readonly PresetCase[] = [
  pieces(
    'line-split',
    (all) => ({ most: Math.max(...all.map((each) => each.length)), many: all.length > 10 }),
    {
      most: 37,
      many: true,
    },
  ),
  pieces('utf8-split', (all) => all.filter(isMidCharacter).length > 4, true),
  pieces('crlf-split', (all) => all.filter((each) => each.at(-1) === 13).length, N),
  lines('crlf', (text) => ({ ends: text.split('\r\n').length - 1, bare: /[^\r]\n/.test(text) }), {
    ends: N,
    bare: false,
  }),
  lines('blank-lines', read, ['', 'item-0', '', 'item-1', '', 'item-2', 'item-3', '']),
  lines('no-final-newline', read, ALL.slice(0, N)),
  lines('out-of-order', read, ['item-3', 'item-2', 'item-1', 'item-0', '']),
  lines('duplicate-line', read, ['item-0', ...ALL]),
  lines('truncated-last-line', read, ['item-0', 'item-1', 'item-2', 'broken']),
  lines('truncated-at-newline', read, ['item-0', '']),
  broken('abort-mid-stream', { end: 'rst', ended: false, read: 2, client: { status: 200, broke: 'broken' } }),
  broken(
    'stall-mid-stream',
    { end: 'open', ended: false, read: 2, client: { status: 200, broke: 'timeout' } },
    true,
  ),
]
