import { expect, test } from 'vitest'
import { command, temporaryFile } from '../cli/in-process.ts'
import { entriesOf, harChanges, testHarChanges } from './har-changes.ts'
import { driftOf, expectNone, findingTexts, recorded } from './recorded.ts'

testHarChanges(harChanges)

test('entries that are no exchange with the service are left out, each with the reason', async () => {
  const har = await recorded()
  const [page] = entriesOf(har, 'pages.create', 200)
  const like = (request: object, response: object = {}, more: object = {}) => ({
    ...{ ...page, request: { ...page?.request, ...request }, response: { ...page?.response, ...response } },
    ...more,
  })
  const strange = [
    like({ method: 'OPTIONS' }),
    like({}, { status: 0 }),
    like({}, { status: 304 }),
    like({}, { status: 503 }),
    like({}, {}, { _fromCache: 'disk' }),
    like({ url: 'https://cdn.example/v1/pages' }),
    like({ url: 'wss://cdn.example/v1/pages' }),
    like({ url: '/v1/pages' }),
    like({ url: `${page?.request.url}/7` }, { status: 404 }),
    {},
  ]
  // A value that is no object at all has no request.
  const report = await driftOf({ log: { entries: [...har.log.entries, ...strange] } })
  expect(findingTexts(report)).toEqual([])
  expect(report.left_out).toEqual({
    'operation without a contract': 11,
    preflight: 1,
    'no response': 1,
    'from a cache': 2,
    'failure of the server': 1,
    'another address': 1,
    'no exchange by HTTP with an absolute URL': 2,
    'refused, and no operation': 1,
  })
})

test('the base URL is that of most exchanges, also below a prefix, and --base chooses another one', async () => {
  const har = await recorded()
  for (const [n, { request }] of har.log.entries.entries()) {
    const base = n < 3 ? 'https://old.example' : 'https://API.example/gateway'
    request.url = request.url.replace(/^http:..[^/]+/, base)
  }
  const { files, left_out } = await driftOf(har)
  expect([files[0]?.base, left_out['another address']]).toEqual(['https://api.example/gateway/v1', 3])
  const old = await driftOf(har, { base: 'https://old.example/v1/' })
  expect([old.files[0]?.base, old.exchanges]).toEqual(['https://old.example/v1', 3])
  const { code, err } = await command(['drift', 'x.har', '--base', 'api'])
  expect([code, err]).toEqual([2, expect.stringContaining('--base: "api" is not a URL.')])
})

test('bodies in base64 are read', async () => {
  const har = await recorded()
  for (const { content } of har.log.entries.map(({ response }) => response)) {
    if (content.text === undefined) continue
    content.text = Buffer.from(content.text.replace('"teamspace"', '"galaxy"')).toString('base64')
    content.encoding = 'base64'
  }
  expect(findingTexts(await driftOf(har))).toEqual([
    'contract POST /pages: body /scope: must be one of "teamspace", "organization"',
  ])
})

test('a recording without most bodies is never a pass: with half of them the exit code is 0, with less 3', async () => {
  const har = await recorded()
  const [page] = entriesOf(har, 'pages.create', 200)
  const other = structuredClone(page) as NonNullable<typeof page>
  // As Playwright's recordHar writes it with `content: 'attach'`.
  other.response.content = { size: 74, mimeType: 'application/json', _file: '5f1c0ab1e3.json' } as never
  const [empty, wrong] = ['', 'gone'].map((text) => {
    const content = { size: text.length, mimeType: 'application/json', text }
    return { ...other, response: { ...other.response, content } }
  })
  const outcomeOf = (...entries: unknown[]) =>
    command(['drift', temporaryFile('traffic.har', JSON.stringify({ log: { entries } }))])
  expect(await outcomeOf(page, other)).toMatchObject({ code: 0 })
  const out = `No difference. Compared: 1 of 4 exchanges.\nNot compared\n  1: body in a file of its own\n  1: no body\n  1: body is not JSON`
  expect(await outcomeOf(page, other, empty, wrong)).toMatchObject({ code: 3, out })
})

test('headers and timings that a tool left out or spelt differently are no difference', async () => {
  const har = await recorded()
  const entries = har.log.entries.map(({ request, response }) => ({
    request: { method: request.method, url: request.url, headers: {}, postData: request.postData },
    response: { status: String(response.status), content: response.content },
  }))
  // Without its Idempotency-Keys, a repeated creation is another one: only answers are compared here.
  expect(findingTexts(await driftOf({ log: { entries: entries.slice(0, 30) } }))).toEqual([])
})

test('equal differences are one finding with the first entry, whichever list item they are about', async () => {
  const har = await recorded()
  const [users] = entriesOf(har, 'teamspace-users.list', 200)
  const copy = structuredClone(users) as NonNullable<typeof users>
  const list = JSON.parse(copy.response.content.text ?? '')
  for (const each of list.data) each.email = null
  copy.response.content.text = JSON.stringify(list)
  har.log.entries.splice(2, 0, copy, structuredClone(copy))
  const { findings } = await driftOf(har)
  const detail = 'body /data/0/email: must be of the type string, not null'
  expect(findings).toMatchObject([{ blame: 'contract', detail, count: 6, entry: 2 }])
})

test('an operation whose status is not that of the others gets its own, also beside one that no setting can have', async () => {
  const har = await recorded()
  for (const { response } of entriesOf(har, 'batch-predictions.create', 200)) response.status = 202
  const { findings, settings } = await driftOf(har)
  expect(findings.map(({ blame, setting }) => `${blame} ${setting}`)).toEqual(['open success.create'])
  expect(settings).toEqual({ 'success.overrides': { 'batch-predictions.create': 202 } })
  expectNone(await driftOf(har, { settings }))
  for (const { response } of entriesOf(har, 'teamspaces.update', 200)) {
    response.status = 204
    response.content.text = ''
    response.content.size = 0
  }
  expect((await driftOf(har)).settings).toEqual(settings)
})
