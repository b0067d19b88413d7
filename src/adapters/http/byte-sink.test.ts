import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ByteSink } from './body.ts'

const MIB = 1024 * 1024

test('chunks are joined into one buffer, whatever size was announced', () => {
  const chunk = fc
    .tuple(fc.nat({ max: MIB }), fc.nat({ max: 255 }))
    .map(([size, fill]) => Buffer.alloc(size, fill))
  fc.assert(
    fc.property(
      fc.array(chunk, { size: 'max', maxLength: 8 }),
      fc.nat({ max: 8 * MIB }),
      (chunks, announced) => {
        const all = Buffer.concat(chunks)
        const sink = new ByteSink(announced, all.length)
        for (const part of chunks) sink.append(part)
        expect(sink.size).toBe(all.length)
        expect(sink.take().equals(all)).toBe(true)
      },
    ),
    { numRuns: 30 },
  )
})

test('a body in one chunk is not copied', () => {
  const chunk = Buffer.from('{}')
  const sink = new ByteSink(2, 100)
  sink.append(chunk)
  expect(sink.take()).toBe(chunk)
})

test('an announced large body is collected in one buffer of exactly that size', () => {
  const sink = new ByteSink(5 * MIB, 100 * MIB)
  for (let n = 0; n < 5; n++) sink.append(Buffer.alloc(MIB, n))
  const bytes = sink.take()
  expect(bytes.buffer.byteLength).toBe(5 * MIB)
  expect(bytes[4 * MIB]).toBe(4)
})

test('a wrong announcement takes no memory before the first MiB has arrived', () => {
  const sink = new ByteSink(10_000 * MIB, 20_000 * MIB)
  sink.append(Buffer.alloc(MIB))
  expect(sink.take().buffer.byteLength).toBe(MIB)
})

test('a body of unknown size never takes more memory than its limit', () => {
  const sink = new ByteSink(0, 3 * MIB)
  for (let n = 0; n < 3; n++) sink.append(Buffer.alloc(MIB, n))
  expect(sink.take().buffer.byteLength).toBe(3 * MIB)
})

test('a sink is empty after take()', () => {
  const sink = new ByteSink(0, 10)
  sink.append(Buffer.from('abc'))
  sink.take()
  expect(sink.size).toBe(0)
  expect(sink.take()).toHaveLength(0)
})
