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

test('a body is forgotten with the entry that newer ones displace', () => {
  const log = new RequestLog(1)
  const first = logged(log, 'first')
  expect(first.show()).toMatchObject({ body: 'first', body_kept: true })
  const second = logged(log, 'second')
  expect(first.show()).toMatchObject({ body: null, body_kept: false, body_bytes: 5 })
  expect(second.show()).toMatchObject({ body: 'second' })
  log.clear()
  expect(second.show()).toMatchObject({ body: null })
})

test('a body that a log at rest has as well stays when the entry is displaced', () => {
  const log = new RequestLog(1)
  const first = logged(log, 'first')
  const saved = log.save()
  logged(log, 'second')
  log.load(saved)
  expect(first.show()).toMatchObject({ body: 'first', body_kept: true })
})

test('a body is forgotten when a reset puts a log without a past in the place of its log', () => {
  const log = new RequestLog(10)
  const first = logged(log, 'first')
  log.load()
  expect(first.show()).toMatchObject({ body: null, body_bytes: 5 })
})
