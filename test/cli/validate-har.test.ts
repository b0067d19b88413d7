import { expect, test } from 'vitest'
import type { JsonObject } from '../../src/core/json.ts'
import type { Sandbox } from '../../src/core/sandboxes/sandbox.ts'
import { checkTraffic } from '../../src/tools/traffic/report.ts'
import { testEmulator } from '../support/emulator.ts'
import { batchBody, sampleCalls, sampleRecords } from '../support/sample-calls.ts'
import { entriesOf, type Har, harChanges } from './har-changes.ts'
import { command, temporaryFile } from './in-process.ts'

let recording: Promise<{ readonly sandbox: Sandbox; readonly text: string }> | undefined

/** A recording of the emulator: every operation, errors of several kinds, and the whole life of a batch. */
async function recorded(): Promise<{ readonly sandbox: Sandbox; readonly har: Har }> {
  recording ??= record()
  const { sandbox, text } = await recording
  return { sandbox, har: JSON.parse(text) }
}

async function record() {
  const emulator = await testEmulator({ collections: sampleRecords })
  for (const { method, path, options } of await sampleCalls(emulator)) {
    emulator.advance('1s')
    await emulator.request(method, path, options)
  }
  await emulator.get('/data-views', { key: 'none' })
  await emulator.post('/pages', {})
  const keyed = { headers: { 'idempotency-key': 'key-1' } }
  const { id } = (await emulator.post('/batch-predictions', batchBody(), keyed)).body
  await emulator.post('/batch-predictions', batchBody(), keyed)
  await emulator.post('/batch-predictions', batchBody(1), keyed)
  for (const wait of ['1s', '1100ms', '200ms', '5s']) {
    emulator.advance(wait)
    await emulator.get(`/batch-predictions/${id}`)
  }
  const { id: other } = (await emulator.post('/batch-predictions', batchBody())).body
  await emulator.post(`/batch-predictions/${other}/cancel`)
  await emulator.get('/batch-predictions/unknown')
  await emulator.control('POST', '/limits/pages.create/fill', { remaining: 0 })
  await emulator.post('/pages', { name: 'One too many' })
  const { body } = await emulator.control('GET', '/requests/har')
  return { sandbox: emulator.sandbox, text: JSON.stringify(body) }
}

/** The differences in a document, and the rest of the report. */
function compared(sandbox: Sandbox, har: unknown, base?: string) {
  const { issues, traffic } = checkTraffic(har as JsonObject, sandbox, base)
  return { differences: issues.map(({ detail }) => detail), issues, traffic }
}

test('a recording of the emulator has no difference, and settles questions in favour of the emulator', async () => {
  const { sandbox, har } = await recorded()
  const { differences, traffic } = compared(sandbox, har)
  expect([differences, traffic?.settings, traffic?.remaining]).toEqual([[], {}, 0])
  expect(traffic?.settled.filter(({ agrees }) => !agrees)).toEqual([])
  const settled = traffic?.settled.map(({ item, setting, shows }) => `${item} ${setting} ${shows}`)
  expect(settled).toEqual(
    expect.arrayContaining([
      'U026 success.read 200 (10)',
      'U054 undefined validating to in_progress',
      'U054 undefined finalizing to completed',
    ]),
  )
})

test('there are thirty changes of a recording', () => {
  expect(harChanges.length).toBe(30)
})

test.each(harChanges)('$name: it is found', async ({ change, differences, settings = {} }) => {
  const { sandbox, har } = await recorded()
  change(har)
  const found = compared(sandbox, har)
  expect(found.differences.toSorted()).toEqual(differences.toSorted())
  const remaining = Object.keys(settings).length > 0 ? 0 : differences.length
  expect([found.traffic?.settings, found.traffic?.remaining]).toEqual([settings, remaining])
})

test('settings that one comparison prints make the next one agree', async () => {
  const { har } = await recorded()
  for (const { response } of entriesOf(har, 'pages.create', 200)) response.status = 201
  har.log.entries.splice(0, har.log.entries.length, ...entriesOf(har, 'pages.create', 201))
  const file = temporaryFile('traffic.har', JSON.stringify(har))
  const first = await command(['validate', file])
  expect(first.code).toBe(1)
  expect(first.out).toContain(
    `${file}:1: /log/entries/0: POST /pages: status success.create: 201 instead of 200\nCompared: 1 exchange with http`,
  )
  const settings = first.out.split('\n').at(-1) ?? ''
  expect(settings).toBe('{"success.create":201}')
  const again = await command(['validate', file, '--settings', temporaryFile('settings.json', settings)])
  expect([again.code, again.out.split('\n')[0]]).toEqual([0, `${file}: ok (HAR)`])
})

test('a file that is cut off, that is no HAR, or that has no exchange with the service, is refused', async () => {
  const { har } = await recorded()
  const outcomeOf = async (text: string) => {
    const { code, out } = await command(['validate', temporaryFile('traffic.har', text)])
    return `${code} ${out.replace(/^.*traffic\.har:/, '')}`
  }
  expect(await outcomeOf(JSON.stringify(har).slice(0, -9))).toMatch(/^1 1: is not JSON: /)
  expect(await outcomeOf('{"log": {}}')).toBe(
    '1 1: is not a HAR file: it has no list log.entries. Export the requests of a browser or a proxy as HAR.',
  )
  const text = JSON.stringify(har).replaceAll('/v1/', '/v2/')
  expect(await outcomeOf(text)).toMatch(
    /^1 1: has no exchange with the service \(\d+ entries: another address\)\. Give the base URL with --base/,
  )
})

test('a HAR file is recognised by its contents, too, also with a byte order mark', async () => {
  const { har } = await recorded()
  const file = temporaryFile('traffic.json', `\uFEFF${JSON.stringify(har)}`)
  const { out } = await command(['validate', file])
  expect(out).toMatch(/traffic\.json: ok \(HAR\)\n/)
})

test('entries that are no exchange with the service are left out, each with the reason', async () => {
  const { sandbox, har } = await recorded()
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
    null,
    {},
  ]
  const { differences, traffic } = compared(sandbox, { log: { entries: [...har.log.entries, ...strange] } })
  expect(differences).toEqual([])
  expect(traffic?.skipped).toEqual({
    'operation without a contract': 11,
    preflight: 1,
    'no response': 1,
    'from a cache': 2,
    'failure of the server': 1,
    'another address': 1,
    'no exchange by HTTP with an absolute URL': 4,
    'refused, and no operation': 1,
  })
})

test('an accepted request that fits no operation is a difference, without the ids in its path', async () => {
  const { sandbox, har } = await recorded()
  const [page] = entriesOf(har, 'pages.create', 200)
  if (page !== undefined) page.request.url = page.request.url.replace('/pages', '/pages/64f0c2/share')
  expect(compared(sandbox, har).differences).toEqual([
    'POST /pages/{...}/share: the emulator has no such operation',
  ])
})

test('the base URL is that of most exchanges, also below a prefix, and --base chooses another one', async () => {
  const { sandbox, har } = await recorded()
  for (const [n, { request }] of har.log.entries.entries())
    request.url = request.url.replace(
      /^http:..[^/]+/,
      n < 3 ? 'https://old.example' : 'https://API.example/gateway',
    )
  expect(compared(sandbox, har).traffic).toMatchObject({
    base: 'https://api.example/gateway/v1',
    skipped: { 'another address': 3 },
  })
  const old = compared(sandbox, har, 'https://old.example/v1/').traffic
  expect([old?.base, old?.compared]).toEqual(['https://old.example/v1', 3])
  const { code, err } = await command(['validate', 'x.har', '--base', 'api'])
  expect([code, err]).toEqual([2, expect.stringContaining('--base: "api" is not a URL.')])
})

test('bodies in base64 are read, and bodies that were not recorded are not compared', async () => {
  const { sandbox, har } = await recorded()
  for (const { content } of har.log.entries.map(({ response }) => response)) {
    if (content.text === undefined) continue
    content.text = Buffer.from(content.text.replace('"teamspace"', '"galaxy"')).toString('base64')
    content.encoding = 'base64'
  }
  expect(compared(sandbox, har).differences).toEqual([
    'POST /pages: body /scope: must be one of "teamspace", "organization"',
  ])
  for (const { response } of har.log.entries) {
    if (response.content.text?.length === 0) continue
    response.content = { size: 1_000, mimeType: response.content.mimeType }
  }
  expect(compared(sandbox, har).differences).toEqual([])
})

/** A body as Playwright's recordHar writes it with `content: 'attach'`, in the file `traffic.har`. */
const attached = { size: 74, mimeType: 'application/json', _file: '5f1c0ab1e3.json' }

test.each([
  ['body in a file of its own', attached],
  ['body left out, or only in part', { size: -1, mimeType: 'application/json' }],
  ['body left out, or only in part', { size: 74, mimeType: 'application/json', text: '{"object":"pa' }],
])('%s: it is counted, and a file without most bodies is not ok: exit code 3', async (reason, content) => {
  const { har } = await recorded()
  const pages = entriesOf(har, 'pages.create', 200).slice(0, 1)
  har.log.entries.splice(0, har.log.entries.length, ...pages)
  for (const { response } of har.log.entries) response.content = content
  const file = temporaryFile('traffic.har', JSON.stringify(har))
  const { code, out } = await command(['validate', file])
  expect([code, ...out.split('\n').slice(0, 2)]).toEqual([
    3,
    `${file}: no body in 1 of 1 exchange: record them with their content (HAR)`,
    expect.stringContaining(`Left out: 1 entry: ${reason}.`),
  ])
  const { valid, files } = JSON.parse((await command(['validate', file, '--json'])).out)
  expect([valid, files[0].traffic.without_body]).toEqual([false, 1])
})

test('a file with at least half of its bodies is compared: exit code 0 without a difference, 1 with one', async () => {
  const { har } = await recorded()
  const [page] = entriesOf(har, 'pages.create', 200)
  if (page === undefined) throw new Error('there is one')
  const other = structuredClone(page)
  other.response.content = attached
  har.log.entries.splice(0, har.log.entries.length, page, other)
  const outcome = async () => {
    const { code, out } = await command(['validate', temporaryFile('traffic.har', JSON.stringify(har))])
    return `${code} ${out.split('\n')[0]?.replace(/^.*traffic\.har:/, '')}`
  }
  expect(await outcome()).toBe('0  no body in 1 of 2 exchanges: record them with their content (HAR)')
  const { id: _, ...withoutId } = JSON.parse(page.response.content.text ?? '')
  page.response.content.text = JSON.stringify(withoutId)
  expect(await outcome()).toBe('1 1: /log/entries/0: POST /pages: body /id: is required')
})

test('a response that has no body misses none', async () => {
  const { sandbox, har } = await recorded()
  const all = compared(sandbox, har).traffic
  expect(all?.without_body).toBe(0)
  const empty = har.log.entries.filter(({ response }) => response.status === 204)
  expect(empty.length).toBeGreaterThan(0)
  for (const { response } of empty) response.content = { size: -1, mimeType: 'x-unknown' }
  expect(compared(sandbox, { log: { entries: empty } }).traffic).toMatchObject({ without_body: 0 })
})

test('headers and timings that a tool left out or spelt differently are no difference', async () => {
  const { sandbox, har } = await recorded()
  const entries = har.log.entries.map(({ request, response }) => ({
    request: { method: request.method, url: request.url, headers: {} },
    response: { status: String(response.status), content: response.content },
  }))
  expect(compared(sandbox, { log: { entries } }).differences).toEqual([])
})

test('a body that is missing or no JSON is a difference, one that was cut in the recording is not', async () => {
  const { sandbox, har } = await recorded()
  const [promoted, renamed, views] = ['skills.promote', 'teamspaces.update', 'data-views.list'].map(
    (operation) => entriesOf(har, operation, 200)[0]?.response,
  )
  if (promoted) promoted.content = { size: 0, mimeType: 'application/json' }
  if (renamed) renamed.content = { ...renamed.content, size: 4, text: 'gone' }
  if (views) views.content = { ...views.content, size: 9_000, text: '{"object":"li' }
  expect(compared(sandbox, har).differences).toEqual([
    'PATCH /organization/teamspaces/{teamspace_id}: body: is not JSON',
    'POST /skills/{skill_id}/promote: body: is missing',
  ])
})

test('equal differences are one issue with the first entry, whichever list item they are about', async () => {
  const { sandbox, har } = await recorded()
  const [users] = entriesOf(har, 'teamspace-users.list', 200)
  const copy = structuredClone(users) as NonNullable<typeof users>
  const list = JSON.parse(copy.response.content.text ?? '')
  for (const each of list.data) each.email = null
  copy.response.content.text = JSON.stringify(list)
  har.log.entries.splice(2, 0, copy, structuredClone(copy))
  const { issues } = compared(sandbox, har)
  expect(issues).toEqual([
    {
      pointer: '/log/entries/2',
      detail:
        'GET /organization/teamspaces/{teamspace_id}/users: body /data/0/email: must be of the type string, not null (in 2 entries)',
    },
  ])
})

test('where the traffic shows two values of one setting, the more frequent one is proposed', async () => {
  const { sandbox, har } = await recorded()
  for (const { response } of entriesOf(har, 'batch-predictions.create', 200)) response.status = 202
  const { traffic } = compared(sandbox, har)
  const { setting, shows, agrees } = traffic?.settled.find((each) => each.setting === 'success.create') ?? {}
  expect([setting, shows, agrees]).toEqual(['success.create', ['200 (7)', '202 (6)'], false])
  expect([traffic?.settings, traffic?.remaining]).toEqual([{}, 1])
})

test('requests that overlap may show states in either order', async () => {
  const { sandbox, har } = await recorded()
  const polls = entriesOf(har, 'batch-predictions.retrieve', 200).slice(-2)
  const [earlier, later] = polls.map(({ response }) => response.content.text ?? '')
  for (const [n, poll] of polls.entries()) poll.response.content.text = [later, earlier][n] ?? ''
  expect(compared(sandbox, har).differences).toHaveLength(1)
  for (const poll of polls) Object.assign(poll, { startedDateTime: '2026-03-02T00:00:00Z', time: 900 })
  expect(compared(sandbox, har).differences).toEqual([])
})

test('no value of a header, a query or a body that may be a secret is printed', async () => {
  const { har } = await recorded()
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
  for (const { request } of entriesOf(har, 'batch-predictions.create'))
    request.postData = { text: JSON.stringify({ model: secret, [secret]: [{ [secret]: secret }] }) }
  const file = temporaryFile('traffic.har', JSON.stringify(har))
  for (const flags of [[], ['--json']]) {
    const { code, out, err } = await command(['validate', file, ...flags])
    expect([code, err]).toEqual([1, ''])
    expect(out).not.toContain('0123456789')
    expect(out).toContain('header X-RateLimit-Reset: is not a whole number')
  }
})
