import { ServerResponse } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import type { ApiResponse } from '../../core/request/response.ts'
import { draftOf } from './faults/draft.ts'
import { inPieces, render } from './render.ts'

/** Lines that record in which turn of the event loop they are created. */
function observed(count: number, line: string) {
  let turn = 0
  let isOver = false
  const next = (): void => {
    turn += 1
    if (!isOver) setImmediate(next)
  }
  setImmediate(next)
  onTestFinished(() => {
    isOver = true
  })
  const made = new Map<number, number>()
  function* lines() {
    for (let n = 0; n < count; n++) {
      made.set(turn, (made.get(turn) ?? 0) + 1)
      yield line
    }
  }
  return { lines, most: () => Math.max(...made.values()), total: () => sum([...made.values()]) }
}

const sum = (values: readonly number[]) => values.reduce((all, each) => all + each, 0)

function streamed(lines: Iterable<string>): ApiResponse {
  return { status: 200, headers: [], text: undefined, lines, durable: undefined }
}

/** A clock on which no time passes. */
const STILL = () => 0

/** A response whose client reads everything at once. */
function fastReader() {
  const written: string[] = []
  const encodings: BufferEncoding[] = []
  const res = Object.assign(Object.create(ServerResponse.prototype), {
    writeHead: () => res,
    write: (text: string, encoding: BufferEncoding) => {
      written.push(text)
      encodings.push(encoding)
      return true
    },
    end: () => res,
  })
  return { res: res as ServerResponse, written, encodings }
}

test.for([
  { line: 'x'.repeat(20_000), most: 2 },
  { line: 'x', most: 100 },
  { line: 'x'.repeat(900_000), most: 1 },
])(
  'a fast reader gets $most lines of $line.length characters in a turn of the event loop',
  async ({ line, most }) => {
    const all = observed(1_000, line)
    const { res, written } = fastReader()
    await render(res, streamed(all.lines()), [], true, STILL)
    expect(all.most()).toBe(most)
    expect(sum(written.map(({ length }) => length))).toBe(1_000 * line.length)
  },
)

test('lines are sent in UTF-8, with and without characters outside ASCII', async () => {
  const lines = ['ASCII', 'é', 'Ω 😀'].flatMap((line) => Array.from({ length: 100 }, () => `${line}\n`))
  const { res, written, encodings } = fastReader()
  await render(res, streamed(lines), [], true, STILL)
  expect(encodings).toEqual(['latin1', 'utf8', 'utf8'])
  const sent = written.map((text, n) => Buffer.from(text, encodings[n]))
  expect(Buffer.concat(sent).toString()).toBe(lines.join(''))
})

test('several streams together create no more lines per turn than one stream', async () => {
  const all = observed(2_500, 'x')
  const readers = Array.from({ length: 10 }, fastReader)
  const lines = all.lines()
  const some = function* () {
    for (let n = 0; n < 250; n++) yield lines.next().value as string
  }
  await Promise.all(readers.map(({ res }) => render(res, streamed(some()), [], true, STILL)))
  expect([all.most(), all.total()]).toEqual([100, 2_500])
})

test('a stream that faults can change is created in equally small pieces', async () => {
  const all = observed(1_000, 'y'.repeat(20_000))
  const { body } = await draftOf(streamed(all.lines()), [])
  // A slow machine creates fewer per turn.
  expect(all.most()).toBeLessThanOrEqual(2)
  expect(body?.length).toBe(20_000_000)
})

test('an empty stream has no piece, and lines that are not read are not created', async () => {
  for await (const piece of inPieces([])) expect(piece).toBe('never')
  const all = observed(1_000, 'z'.repeat(32_768))
  for await (const piece of inPieces(all.lines(), STILL)) {
    expect(piece).toHaveLength(32_768)
    break
  }
  expect(all.total()).toBe(1)
})

test.for([
  { ms: 1, most: 3 },
  { ms: 2, most: 2 },
  { ms: 50, most: 1 },
])('lines that take $ms ms each are sent in pieces of $most, whatever their length', async ({ ms, most }) => {
  const all = observed(60, 'x')
  let now = 0
  const lines = function* () {
    for (const line of all.lines()) {
      now += ms
      yield line
    }
  }
  const { res, written } = fastReader()
  await render(res, streamed(lines()), [], true, () => now)
  expect([all.most(), written.join('')]).toEqual([most, 'x'.repeat(60)])
})
