import { crc32 } from 'node:zlib'
import { expect, test } from 'vitest'
import { KeptResponse } from './kept-response.ts'
import { type LogEntry, RequestLog } from './request-log.ts'

function logged(log: RequestLog, text: string): KeptResponse {
  const response = new KeptResponse(200, [])
  response.write(text)
  // The log reads nothing else of an entry.
  log.add({ id: text, response } as LogEntry)
  return response
}

test.for<[what: string, leave: (log: RequestLog) => void]>([
  ['a newer one replaces its entry', (log) => logged(log, 'second')],
  ['its log is cleared', (log) => log.clear()],
  ['a reset replaces its log with an empty one', (log) => log.load()],
])('a body is dropped when %s', ([, leave]) => {
  const log = new RequestLog(1)
  const first = logged(log, 'first')
  expect(first.show()).toMatchObject({ body: 'first', body_kept: true })
  leave(log)
  expect(first.show()).toMatchObject({ body: null, body_kept: false, body_bytes: 5 })
})

test('a body that a saved log also has is kept when its entry is replaced', () => {
  const log = new RequestLog(1)
  const first = logged(log, 'first')
  const saved = log.save()
  logged(log, 'second')
  log.load(saved)
  expect(first.show()).toMatchObject({ body: 'first', body_kept: true })
})

test('a body that a recording also has is dropped when both have left it', () => {
  const log = new RequestLog(1)
  const response = logged(log, 'first')
  response.hold()
  log.clear()
  expect(response.show()).toMatchObject({ body: 'first' })
  response.release()
  expect(response.show()).toMatchObject({ body: null })
})

const LONG = `{"api_key":"long-secret-1"}${'x'.repeat(5_000)}`

test('a body is searched for secrets when it is shown, and has the checksum of what is shown', () => {
  const response = new KeptResponse(200, [])
  response.write(LONG)
  const shown = LONG.replace('long-secret-1', '(redacted)')
  expect([response.show().body, response.crc32]).toEqual([shown, crc32(shown)])
})

test('a long body that is continued has the checksum of the whole', () => {
  const response = new KeptResponse(200, [])
  response.write('x'.repeat(5_000))
  response.write('y')
  expect(response.crc32).toBe(crc32(`${'x'.repeat(5_000)}y`))
})

test.for<[bytes: number, isKnown: boolean]>([
  [65_536, false],
  [65_537, true],
])('a body of %i bytes has its checksum after it was dropped: %s', ([bytes, isKnown]) => {
  const log = new RequestLog(1)
  const text = 'x'.repeat(bytes)
  const response = logged(log, text)
  log.clear()
  expect(response.crc32).toBe(isKnown ? crc32(text) : undefined)
})

test('a long body that is continued or replaced after it was dropped has no checksum of a part', () => {
  const log = new RequestLog(1)
  const [continued, replaced] = [logged(log, LONG), logged(log, LONG)]
  log.clear()
  continued.write('y')
  expect([continued.crc32, continued.show().body]).toEqual([undefined, null])
  replaced.replace(200, [], Buffer.from('z'.repeat(5_000)))
  expect([replaced.crc32, replaced.show().body]).toEqual([crc32('z'.repeat(5_000)), null])
})
