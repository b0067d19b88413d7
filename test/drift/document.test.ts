import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { command, temporaryFile } from '../cli/in-process.ts'
import { entriesOf, harChanges, testHarChanges } from './har-changes.ts'
import { driftOf, expectNone, recorded } from './recorded.ts'

test('a recording of the emulator has no difference', async () => {
  const report = await driftOf(await recorded())
  expectNone(report)
  expect(report).toMatchObject({ exchanges: 34, compared: 33, settings: {} })
  expect(report.not_compared).toEqual({ 'refused by a rate limit, which the emulator does not repeat': 1 })
})

// One of each kind: the slow tests have all.
testHarChanges(harChanges.slice(0, 2))

test('settings that one run writes make the open questions disappear in the next one', async () => {
  const har = await recorded()
  har.log.entries.splice(0, har.log.entries.length, ...entriesOf(har, 'pages.create', 200))
  for (const { response } of har.log.entries) response.status = 201
  const file = temporaryFile('traffic.har', JSON.stringify(har))
  const settings = temporaryFile('settings.json', '{"success.read": 203}')
  const first = await command(['drift', file, '--write-settings', settings])
  expect([first.code, first.err]).toEqual([0, ''])
  expect(first.out).toContain('U026 success.create: 201')
  expect(JSON.parse(readFileSync(settings, 'utf8'))).toEqual({ 'success.read': 203, 'success.create': 201 })
  const again = await command(['drift', file, '--settings', settings])
  expect([again.code, again.out]).toEqual([0, 'No difference. Compared: 1 of 1 exchange.'])
})

test('a file that is cut off, that is no HAR, or that has no exchange with the service, is refused', async () => {
  const har = await recorded()
  const outcomeOf = async (text: string) => {
    const { code, err } = await command(['drift', temporaryFile('traffic.har', text)])
    return `${code} ${err.replace(/^.*traffic\.har:/, '')}`
  }
  expect(await outcomeOf('{"log": {}}')).toMatch(
    /^1 {2}has no exchange with the service \(it has no entries\)/,
  )
  const text = JSON.stringify(har).replaceAll('/v1/', '/v2/')
  expect(await outcomeOf(text)).toMatch(
    /^1 {2}has no exchange with the service \(\d+ entries: another address\)\. Export .* give the base URL with --base/,
  )
  const cut = await command(['drift', temporaryFile('cut.har', JSON.stringify(har).slice(0, -9))])
  expect([cut.code, cut.out]).toEqual([0, expect.stringContaining('1: the file ends too early')])
})

test('validate names the command that compares a recording', async () => {
  const file = temporaryFile('traffic.json', JSON.stringify(await recorded()))
  const { code, out } = await command(['validate', file])
  expect([code, out]).toEqual([1, `${file}: is a recording. Run: workspace-emulator drift ${file}`])
})

test('an accepted request that fits no operation is an addition to the contract, without the ids in its path', async () => {
  const har = await recorded()
  const [page] = entriesOf(har, 'pages.create', 200)
  if (page !== undefined) page.request.url = page.request.url.replace('/pages', '/pages/64f0c2/share')
  const { findings } = await driftOf(har)
  expect(findings).toMatchObject([
    { blame: 'contract', kind: 'addition', request: 'POST /pages/{...}/share', count: 1 },
  ])
})

test('no value of a header, a query or a body that may be a secret is printed', async () => {
  const har = await recorded()
  // Each of them is repeated under many settings, so a part is enough.
  har.log.entries.splice(0, har.log.entries.length, ...har.log.entries.filter((_, n) => n % 3 === 0))
  const secret = 'live_k3yOfAUser0123456789'
  for (const { request, response } of har.log.entries) {
    request.headers.push({ name: 'authorization', value: `Bearer ${secret}` })
    request.url += `?limit=${secret}&after=${secret}`
    response.headers = [...response.headers, { name: 'x-ratelimit-reset', value: secret }]
    const { text } = response.content
    if (text === undefined || text.includes('\n')) continue
    const body = JSON.parse(text)
    const wrong = Object.fromEntries(Object.keys(body).map((key) => [key, secret]))
    response.content.text = JSON.stringify({ ...wrong, [secret]: secret, metadata: { [secret]: 1 } })
  }
  const created = entriesOf(har, 'batch-predictions.create')
  expect(created.length).toBeGreaterThan(0)
  for (const { request } of created)
    request.postData = { text: JSON.stringify({ model: secret, [secret]: [{ [secret]: secret }] }) }
  const file = temporaryFile('traffic.har', JSON.stringify(har))
  for (const flags of [[], ['--json'], ['--markdown']]) {
    const { code, out, err } = await command(['drift', file, ...flags])
    expect([code, err]).toEqual([1, ''])
    expect(out).not.toContain('0123456789')
    expect(out).toContain('header X-RateLimit-Reset: is not a whole number')
  }
})
