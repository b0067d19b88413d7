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

test('a body is dropped with an entry that a newer one replaces', () => {
  const log = new RequestLog(1)
  const first = logged(log, 'first')
  expect(first.show()).toMatchObject({ body: 'first', body_kept: true })
  const second = logged(log, 'second')
  expect(first.show()).toMatchObject({ body: null, body_kept: false, body_bytes: 5 })
  expect(second.show()).toMatchObject({ body: 'second' })
  log.clear()
  expect(second.show()).toMatchObject({ body: null })
})

test('a body that a saved log also has is kept when its entry is replaced', () => {
  const log = new RequestLog(1)
  const first = logged(log, 'first')
  const saved = log.save()
  logged(log, 'second')
  log.load(saved)
  expect(first.show()).toMatchObject({ body: 'first', body_kept: true })
})

test('a body is dropped when a reset replaces its log with an empty one', () => {
  const log = new RequestLog(10)
  const first = logged(log, 'first')
  log.load()
  expect(first.show()).toMatchObject({ body: null, body_bytes: 5 })
})

const LONG = `{"api_key":"long-secret-1"}${'x'.repeat(5_000)}`

test('a long body is searched for secrets when it is shown, and has the checksum of what is shown', () => {
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

test('a long body that was dropped before anything asked for it has no checksum, a short one has', () => {
  const log = new RequestLog(1)
  const [long, short] = [logged(log, LONG), logged(log, 'short')]
  log.clear()
  expect([long.crc32, short.crc32]).toEqual([undefined, crc32('short')])
})
