import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { command, temporaryFile } from '../cli/in-process.ts'
import { entriesOf, type Har, type HarChange, harChanges } from './har-changes.ts'
import { driftOf, expectNone, findingTexts, recorded, type Wrap, withBug } from './recorded.ts'

type Fields = Record<string, unknown>

/** A bug in the answers to an operation: fields that are set, and removed where they are undefined. */
const fields = (method: string, path: RegExp, set: (body: Fields) => Fields): Wrap =>
  withBug(method, path, (answer) => {
    if (answer.status < 300) answer.body = { ...(answer.body as Fields), ...set(answer.body as Fields) }
  })

const header = (method: string, path: RegExp, change: (headers: Headers) => void): Wrap =>
  withBug(method, path, ({ headers }) => change(headers))

/** Ten bugs of the emulator, each with the only finding that it must lead to. */
const bugs: readonly (readonly [name: string, bug: Wrap, finding: string])[] = [
  [
    'a field is missing',
    fields('POST', /\/promote/, () => ({ name: undefined })),
    'POST /skills/{skill_id}/promote: body /name: is required',
  ],
  [
    'a field has another type',
    fields('PATCH', /\/teamspaces\//, () => ({ name: 7 })),
    'PATCH /organization/teamspaces/{teamspace_id}: body /name: must be of the type string, not number',
  ],
  [
    'a field is new',
    fields('POST', /\/connections/, () => ({ extra: 1 })),
    'POST /connections: body /extra: is not a known field',
  ],
  [
    'an unknown word',
    fields('POST', /\/organization\/teamspaces$/, () => ({ access: 'hidden' })),
    'POST /organization/teamspaces: body /access: must be one of "open", "closed"',
  ],
  [
    'a timestamp without a zone',
    fields('POST', /\/promote/, () => ({ promoted_at: '2026-01-01T00:00:00' })),
    'POST /skills/{skill_id}/promote: body /promoted_at: must be an ISO 8601 date-time with a zone, such as 2025-01-31T09:30:00.000Z',
  ],
  [
    'a status that the document does not have',
    withBug('DELETE', /\/users\//, (answer) => {
      answer.status = 202
      answer.body = ''
    }),
    'DELETE /organization/teamspaces/{teamspace_id}/users/{user_id}: status success.delete: 202 instead of 204',
  ],
  [
    'a refusal of a request that the service accepts',
    withBug('POST', /\/connections/, (answer) => {
      answer.status = 400
      answer.body = {
        ...{ status_code: 400, statusCode: 400, error: 'validation_failed', message: 'No.' },
        ...{ retryable: false, details: {} },
      }
    }),
    'POST /connections: status: 400 instead of 200',
  ],
  [
    'a missing header of the rate limit',
    header('GET', /\/data-views/, (headers) => headers.delete('x-ratelimit-reset')),
    'GET /data-views: header X-RateLimit-Reset: is missing',
  ],
  [
    'another content type',
    header('GET', /\/mcp-servers/, (headers) => headers.set('content-type', 'text/plain')),
    'GET /organization/mcp-servers: header Content-Type: is not application/json',
  ],
  [
    'an illegal transition',
    fields('POST', /\/cancel/, () => ({ status: 'validating' })),
    'POST /batch-predictions/{batch_prediction_id}/cancel: transition: validating after cancel, instead of cancelling',
  ],
]

test('there are ten bugs of the emulator', () => expect(bugs).toHaveLength(10))

test.each(bugs)('%s in the emulator is the fault of the emulator', async (_, bug, finding) => {
  expect(findingTexts(await driftOf(await recorded(), { send: bug }))).toEqual([`emulator ${finding}`])
})

test('the same differences in the recording are the fault of the contract: ten of them', async () => {
  const changes = harChanges.filter(({ settings }) => settings === undefined).slice(0, 10)
  expect(changes).toHaveLength(10)
  for (const { change, differences } of changes) {
    const har = await recorded()
    change(har)
    const { findings } = await driftOf(har)
    expect(findings.map(({ blame }) => blame)).toEqual(differences.map(() => 'contract'))
  }
})

/** What no exchange shows by itself: only another value of the setting makes the answers alike. */
const searched: readonly (readonly [setting: string, value: unknown, (har: Har) => void])[] = [
  [
    'patch.empty',
    'reject',
    (har) => {
      for (const { request, response } of entriesOf(har, 'teamspaces.update', 200)) {
        request.postData = { text: '{}' }
        refuse(response, 400)
      }
    },
  ],
  [
    'unknown_fields',
    'reject',
    (har) => {
      for (const { request, response } of entriesOf(har, 'connections.create', 200)) {
        request.postData = {
          text: JSON.stringify({ connector_id: 'x', connection_provider_id: 'y', unknown: 1 }),
        }
        refuse(response, 400)
      }
    },
  ],
  [
    'consumption.without_dates',
    'reject',
    (har) => {
      for (const { response } of entriesOf(har, 'consumption.list', 200)) refuse(response, 400)
    },
  ],
]

function refuse(response: { status: number; content: { text?: string } }, status: number): void {
  response.status = status
  const codes = { status_code: status, statusCode: status, error: 'validation_failed', message: 'No.' }
  response.content.text = JSON.stringify({ ...codes, retryable: false, details: { errors: [] } })
}

test.each(searched)('an answer that depends on %s alone is an open question', async (key, value, change) => {
  const har = await recorded()
  change(har)
  const report = await driftOf(har)
  expect([findingTexts(report), report.settings]).toEqual([[`open ${key}`], { [key]: value }])
  expectNone(await driftOf(har, { settings: report.settings }))
})

test('ten open questions in one recording have their settings, which make all of them disappear', async () => {
  const har = await recorded()
  const names = [
    ...['a validation error', 'an error has another word', 'the types of problems', 'deletions have'],
    ...['an operation has', 'a page without', 'the list of MCP', 'data views have', 'batches are created'],
    'all creations',
  ]
  const keys = new Set<string>()
  for (const name of names) {
    const { change, settings = {} } = harChanges.find((each) => each.name.startsWith(name)) as HarChange
    change(har)
    for (const key of Object.keys(settings)) keys.add(key)
  }
  expect(keys.size).toBeGreaterThanOrEqual(10)
  const file = temporaryFile('traffic.har', JSON.stringify(har))
  const settings = temporaryFile('settings.json', '{}')
  const first = JSON.parse((await command(['drift', file, '--write-settings', settings, '--json'])).out)
  expect(first.findings.map((each: { blame: string; setting: string }) => each.setting).toSorted()).toEqual(
    [...keys].sort(),
  )
  expect(Object.keys(JSON.parse(readFileSync(settings, 'utf8'))).sort()).toEqual([...keys].sort())
  const again = await command(['drift', file, '--settings', settings])
  expect([again.code, again.out.split('\n')[0]]).toEqual([0, 'No difference. Compared: 33 of 34 exchanges.'])
})

test('200 differences of six causes are six findings with their numbers', async () => {
  const har = await recorded()
  const [page] = entriesOf(har, 'pages.create', 200)
  const causes: Fields[] = [
    { id: undefined },
    { name: null },
    { scope: 'galaxy' },
    { created_at: 'yesterday' },
    { object: 'sheet' },
    { extra: true },
  ]
  const entries = Array.from({ length: 200 }, (_, n) => {
    const entry = structuredClone(page) as NonNullable<typeof page>
    const body = { ...JSON.parse(entry.response.content.text ?? ''), ...causes[n % 6] }
    entry.response.content.text = JSON.stringify(body)
    return entry
  })
  const { findings } = await driftOf({ log: { entries } })
  expect(findings.map(({ blame, count }) => `${blame} ${count}`).toSorted()).toEqual([
    ...['contract 33', 'contract 33', 'contract 33', 'contract 33', 'contract 34', 'contract 34'],
  ])
})

test('--fail-on chooses whose differences make the exit code 1', async () => {
  const har = await recorded()
  for (const { response } of entriesOf(har, 'skills.promote', 200))
    response.content.text = (response.content.text ?? '').replace('"object":"skill",', '')
  const file = temporaryFile('traffic.har', JSON.stringify(har))
  const codeOf = async (...flags: string[]) => (await command(['drift', file, ...flags])).code
  expect(await codeOf()).toBe(1)
  expect(await codeOf('--fail-on', 'contract')).toBe(1)
  expect(await codeOf('--fail-on', 'emulator', '--fail-on', 'service')).toBe(0)
  expect(await codeOf('--fail-on', 'nobody')).toBe(2)
})

test('--junit and --markdown have the findings', async () => {
  const har = await recorded()
  for (const { response } of entriesOf(har, 'skills.promote', 200))
    response.content.text = (response.content.text ?? '').replace('"object":"skill",', '')
  const file = temporaryFile('traffic.har', JSON.stringify(har))
  const junit = temporaryFile('junit.xml', '')
  const { out } = await command(['drift', file, '--markdown', '--junit', junit])
  expect(out).toContain('## The service differs from the document')
  expect(out).toContain('- `POST /skills/{skill_id}/promote: body /object: is required (change)`')
  const xml = readFileSync(junit, 'utf8')
  expect(xml).toContain('tests="3" failures="1" errors="0"')
  expect(xml).toContain('<failure type="contract" message="POST /skills/{skill_id}/promote: body /object')
})

test('settings that are wrong are refused with their place', async () => {
  const file = temporaryFile('traffic.har', JSON.stringify(await recorded()))
  const settings = temporaryFile('settings.json', '{\n  "success.create": "no"\n}')
  const { code, err } = await command(['drift', file, '--settings', settings])
  expect([code, err]).toEqual([1, expect.stringContaining(`${settings}:2`)])
})
