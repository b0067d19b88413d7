import { expect, test } from 'vitest'
import { command, temporaryFile } from '../cli/in-process.ts'
import { harOf, KEYS } from '../real-service/record.ts'
import { against, changedService, changes, NONE, reads, testServiceChanges } from './changed-service.ts'

test('a read that several recordings have is sent once', async () => {
  const { against: url, requests } = await changedService(NONE, () => {})
  const har = harOf(await reads())
  const files = ['one.har', 'two.har'].map((name) => temporaryFile(name, har))
  const flags = ['--against', url, '--key-env', 'REAL_KEY', '--fail-on', 'service']
  const { code, err } = await command(['drift', ...files, ...flags], { REAL_KEY: KEYS[0] })
  expect([code, err]).toEqual([0, ''])
  expect(requests).not.toEqual([])
  expect(new Set(requests).size).toBe(requests.length)
})

testServiceChanges(changes)

test('a record that is gone is no drift, unless all are', async () => {
  const gone = (path: RegExp) =>
    changedService(path, (answer) => {
      answer.status = 404
      answer.body = { status_code: 404, error: 'missing', message: 'No.', retryable: false, details: {} }
    })
  const one = await against((await gone(/data-views/)).against, [], await reads())
  expect(one.texts).toEqual([])
  expect(one.live.notes).toContain('3 not compared: record gone')
  const all = await against((await gone(/./)).against, [], await reads())
  expect(all.code).toBe(1)
  expect(all.texts).toContain('gone GET /data-views: status: 404 instead of 200')
})

test('failures of the service and its rate limit are no evidence', async () => {
  const broken = await changedService(/./, (answer) => {
    answer.status = 503
  })
  expect(await against(broken.against, [], await reads())).toMatchObject({ texts: [], code: 3 })
  const limited = await changedService(/./, (answer) => {
    answer.status = 429
    answer.headers['retry-after'] = '61'
  })
  const { texts, code, live } = await against(limited.against, [], await reads())
  expect([texts, code, live.sent]).toEqual([[], 3, 1])
  expect(live.notes).toContain('1 not compared: refused by a rate limit (429), which ended the run')
})

test.for([
  ['0', 2, 2, 0],
  ['0', 3, 2, 1],
  // A date of the past: at once.
  ['Sun, 01 Mar 2020 09:00:00 GMT', 1, 1, 0],
  ['Sun, 01 Mar 2020 09:00:00 GMT', 3, 2, 1],
] as const)('Retry-After %s, %i times: %i repeated, %i refused', async ([wait, refusals, again, refused]) => {
  let left: number = refusals
  const { against: url, requests } = await changedService(/data-views/, (answer) => {
    if (left-- <= 0) return
    answer.status = 429
    answer.headers['retry-after'] = wait
  })
  const { texts, code, live } = await against(url, [], await reads())
  expect([texts, code]).toEqual([[], 0])
  expect(requests.filter((each, n) => requests.indexOf(each) < n)).toHaveLength(again)
  const notes = live.notes.filter((each: string) => each.endsWith('refused by a rate limit (429)'))
  expect(notes).toEqual(refused === 0 ? [] : ['1 not compared: refused by a rate limit (429)'])
})

test('--budget bounds the requests, and a sanitised query is not sent', async () => {
  const { against: url, requests } = await changedService(NONE, () => {})
  const masked = structuredClone(await reads())
  for (const { request } of masked) if (request.url.includes('/users?')) request.url += '&search=[redacted]'
  const { live } = await against(url, ['--budget', '3'], masked)
  expect([live.sent, requests.length]).toEqual([3, 3])
  expect(requests.join()).not.toContain('redacted')
  expect(live.notes).toContain('3 not compared: a sanitised path or query')
})
