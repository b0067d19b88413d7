import { EventEmitter, once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import type { ApiResponse } from '../../core/request/response.ts'
import { render } from './render.ts'

function streamed(lines: Iterable<string>): ApiResponse {
  return { status: 200, headers: [], text: undefined, lines }
}

/** A response whose client reads everything at once; with `isSlow`, only after the test has emitted `drain`. */
class Client extends EventEmitter {
  readonly written: Buffer[] = []
  readonly #isSlow: boolean
  destroyed = false

  constructor(isSlow = false) {
    super()
    this.#isSlow = isSlow
  }

  get res(): ServerResponse {
    return this as unknown as ServerResponse
  }

  get text(): string {
    return Buffer.concat(this.written).toString()
  }

  writeHead(): this {
    return this
  }

  write(text: string, encoding: BufferEncoding): boolean {
    this.written.push(Buffer.from(text, encoding))
    this.emit('written')
    return !this.#isSlow
  }

  end(text: string, encoding: BufferEncoding): void {
    this.written.push(Buffer.from(text, encoding))
  }
}

/** Lines of 1,000 characters, and how many of them have been created. */
function counted(count: number) {
  let made = 0
  function* lines() {
    for (; made < count; made++) yield `${'x'.repeat(999)}\n`
  }
  return { lines: lines(), made: () => made }
}

test('lines are sent in UTF-8, with and without characters outside ASCII', async () => {
  const lines = ['ASCII', 'é', 'Ω 😀'].flatMap((line) => Array.from({ length: 30_000 }, () => `${line}\n`))
  const client = new Client()
  await render(client.res, streamed(lines), [], true)
  expect(client.text).toBe(lines.join(''))
  expect(client.written.length).toBeGreaterThan(3)
})

/** Short lines that each take longer than a turn to create, as those of an output that is hard to find. */
function slow(count: number) {
  let made = 0
  function* lines() {
    for (; made < count; made++) {
      const end = performance.now() + 11
      while (performance.now() < end);
      yield 'x\n'
    }
  }
  return { lines: lines(), made: () => made }
}

test.for([
  ['the pieces of a long stream, however fast it is read', counted, 1_000, 1_000_000, 10],
  ['short lines that take long to create', slow, 5, 10, 4],
] as const)('other work runs between %s', async ([, create, count, length, turns]) => {
  const { lines, made } = create(count)
  const client = new Client()
  const sent = render(client.res, streamed(lines), [], true)
  const seen = new Set<number>()
  while (made() < count) {
    seen.add(made())
    await new Promise(setImmediate)
  }
  await sent
  expect(client.text).toHaveLength(length)
  expect(seen.size).toBeGreaterThan(turns)
})

test('no more lines that take long to create are created for a client that has left', async () => {
  const { lines, made } = slow(20)
  const client = new Client()
  const sent = render(client.res, streamed(lines), [], true)
  client.destroyed = true
  await sent
  expect(made()).toBeLessThan(3)
})

test('a slow client gets lines only as fast as it reads them', async () => {
  const { lines, made } = counted(1_000)
  const client = new Client(true)
  const sent = render(client.res, streamed(lines), [], true)
  for (let n = 0; n < 5; n++) await new Promise(setImmediate)
  expect(made()).toBeLessThan(100)
  client.on('written', () => void setImmediate(() => client.emit('drain')))
  client.emit('drain')
  await sent
  expect(client.text).toHaveLength(1_000_000)
})

test('no more lines are created for a client that has left', async () => {
  const { lines, made } = counted(1_000)
  const client = new Client(true)
  const sent = render(client.res, streamed(lines), [], true)
  if (client.written.length === 0) await once(client, 'written')
  client.destroyed = true
  client.emit('close')
  await sent
  expect(made()).toBeLessThan(100)
})

test('a stream without lines ends at once, as does the response to a HEAD request', async () => {
  const { lines, made } = counted(9)
  const [empty, head] = [new Client(), new Client()]
  await render(empty.res, streamed([]), [], true)
  await render(head.res, streamed(lines), [], false)
  expect([empty.text, head.text, made()]).toEqual(['', '', 0])
})
