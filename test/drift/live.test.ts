import { expect, test } from 'vitest'
import { command, temporaryFile } from '../cli/in-process.ts'
import { harOf } from '../real-service/record.ts'
import { against, changedService, changes, NONE, reads, testServiceChanges } from './changed-service.ts'

test('a service that answers as recorded has no difference, and gets only reads, each once', async () => {
  const { against: url, requests } = await changedService(NONE, () => {})
  const { texts, code, live } = await against(url, [], await reads())
  expect([texts, code]).toEqual([[], 0])
  expect(requests.length).toBe(live.sent)
  expect(new Set(requests).size).toBe(requests.length)
  expect(requests.every((each) => each.startsWith('GET '))).toBe(true)
})

testServiceChanges(changes.slice(0, 1))

test('with --writes, creations are repeated and their new ids are used', async () => {
  const { against: url, requests } = await changedService(NONE, () => {})
  const { texts, code } = await against(url, ['--writes'])
  expect([texts, code]).toEqual([[], 0])
  expect(requests).toContain('POST /api/v1/batch-predictions')
  expect(requests.filter((each) => /^GET .*\/results$/.test(each)).length).toBe(8)
})

test('an address without TLS, a key that is missing and a service that is not there are refused with the way out', {
  timeout: 120_000,
}, async () => {
  const file = temporaryFile('traffic.har', harOf((await reads()).slice(0, 3)))
  const outcomeIn = async (env: object, ...flags: string[]) => {
    const { code, err } = await command(['drift', file, ...flags], { REAL_KEY: 'k', ...env })
    return `${code} ${err}`
  }
  const outcome = (...flags: string[]) => outcomeIn({}, ...flags)
  expect(await outcome('--against', 'http://api.example/v1', '--key-env', 'REAL_KEY')).toMatch(
    /^2 --against: .* not encrypted/,
  )
  expect(await outcome('--against', 'https://api.example/v1')).toMatch(/^2 --key-env is missing/)
  expect(await outcome('--against', 'https://api.example/v1', '--key-env', 'NO_KEY')).toMatch(
    /^2 --key-env: the environment has no variable NO_KEY/,
  )
  expect(await outcome('--against', 'http://127.0.0.1:2/v1', '--key-env', 'REAL_KEY')).toMatch(
    /^1 http:\/\/127.0.0.1:2 cannot be reached \(ECONNREFUSED\)/,
  )
  const flags = ['--against', 'https://127.0.0.1:2/v1', '--key-env', 'REAL_KEY']
  for (const HTTPS_PROXY of ['socks5://127.0.0.1:1', 'http://', '127.0.0.1:nonsense'])
    expect(await outcomeIn({ HTTPS_PROXY }, ...flags)).toMatch(
      /^2 HTTPS_PROXY is not the address of a proxy\./,
    )
  expect(await outcomeIn({ HTTPS_PROXY: '127.0.0.1:2' }, ...flags)).toMatch(/ECONNREFUSED/)
  // A proxy that is not used may be anything.
  const HTTPS_PROXY = 'socks5://127.0.0.1:1'
  expect(await outcomeIn({ HTTPS_PROXY, NO_PROXY: '127.0.0.1' }, ...flags)).toMatch(/ECONNREFUSED/)
  flags[1] = 'http://127.0.0.1:2/v1'
  expect(await outcomeIn({ HTTPS_PROXY }, ...flags)).toMatch(/ECONNREFUSED/)
})
