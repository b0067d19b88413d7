import { isUtf8 } from 'node:buffer'
import type { PresetCase } from './preset-case.ts'
import type { StageCall, Subject } from './setup.ts'
import { dechunk, outcome, parse, split } from './views.ts'

/** Characters of two, three and four bytes in each line. */
const OUTPUT = { text: 'Brücke – 橋 – 🏗' }
const N = 4

/** Arms a preset, and requests the results of a finished batch. */
async function armedResults(subject: Subject, preset: string) {
  const id = await subject.batch({ items: N, output_schema: { type: 'object' } })
  await subject.control('PATCH', `/batches/${id}`, { outcomes: [{ output: OUTPUT }] })
  await subject.control('POST', `/batches/${id}/complete`)
  await subject.arm(preset)
  const path = `/batch-predictions/${id}/results`
  return {
    raw: (how: StageCall = {}) => subject.raw('GET', path, how),
    call: (how: StageCall = {}) => subject.call('GET', path, how),
  }
}

/** The lines of a text, split at LF: the custom_id of each, or "broken". */
function read(text = ''): unknown[] {
  return text.split('\n').map((line) => (line === '' ? '' : (parse(line)?.custom_id ?? 'broken')))
}

const ALL = ['item-0', 'item-1', 'item-2', 'item-3', '']

function lines(preset: string, extract: (text: string) => unknown, expected: unknown): PresetCase {
  return {
    preset,
    run: async (subject) => {
      const { body = '', error } = await (await armedResults(subject, preset)).call()
      return { error, seen: extract(body) }
    },
    expected: { error: undefined, seen: expected },
  }
}

/** Reads the chunks of a body. A chunk that is sent after a wait arrives separately. */
function pieces(
  preset: string,
  extract: (pieces: readonly Buffer[]) => unknown,
  expected: unknown,
): PresetCase {
  return {
    preset,
    run: async (subject) => {
      const { raw, call } = await armedResults(subject, preset)
      const { end, text, pieces } = await raw()
      await subject.arm(preset)
      const { body = '' } = await call()
      const payloads = dechunk(split(text).body).chunks.map((chunk) => Buffer.from(chunk, 'latin1'))
      return {
        end,
        apart: pieces.length > 1,
        whole: Buffer.concat(payloads).toString() === body,
        seen: extract(payloads),
        read: read(body.replaceAll('\r', '')),
      }
    },
    expected: { end: 'fin', apart: true, whole: true, seen: expected, read: ALL },
  }
}

/** A response that breaks after a line: for a raw socket, for a client, and not the next time. */
function broken(preset: string, end: 'rst' | 'open', broke: 'broken' | 'timeout'): PresetCase {
  const untilHeld = end === 'open'
  return {
    preset,
    run: async (subject) => {
      const { raw, call } = await armedResults(subject, preset)
      const seen = await raw({ untilHeld })
      await subject.control('POST', `/faults/${preset}/reset`)
      const view = await call({ untilHeld })
      const { payload, ended } = dechunk(split(seen.text).body)
      const then = await call()
      return {
        raw: [seen.end, ended, read(Buffer.from(payload, 'latin1').toString()).length],
        client: outcome(view),
        then: read(then.body),
      }
    },
    expected: { raw: [end, false, 2], client: { status: 200, broke }, then: ALL },
  }
}

export const lineCases: readonly PresetCase[] = [
  pieces('ndjson-line-split', (all) => [Math.max(...all.map((each) => each.length)), all.length > 10], [
    37,
    true,
  ]),
  pieces('ndjson-utf8-split', (all) => all.filter((each) => !isUtf8(each)).length > 4, true),
  pieces('ndjson-crlf-split', (all) => all.filter((each) => each.at(-1) === 13).length, N),
  lines('ndjson-crlf', (text) => [text.split('\r\n').length - 1, /[^\r]\n/.test(text)], [N, false]),
  lines('ndjson-blank-lines', read, ['', 'item-0', '', 'item-1', '', 'item-2', 'item-3', '']),
  lines('ndjson-no-final-newline', read, ALL.slice(0, N)),
  lines('ndjson-out-of-order', read, ['item-3', 'item-2', 'item-1', 'item-0', '']),
  lines('ndjson-duplicate-line', read, ['item-0', ...ALL]),
  lines('ndjson-truncated-last-line', read, ['item-0', 'item-1', 'item-2', 'broken']),
  lines('ndjson-truncated-at-newline', read, ['item-0', '']),
  broken('ndjson-abort-mid-stream', 'rst', 'broken'),
  broken('ndjson-stall-mid-stream', 'open', 'timeout'),
]
