import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { command, temporaryFile } from '../cli/in-process.ts'
import { entriesOf, type Har, type HarChange, harChanges } from './har-changes.ts'
import { driftOf, expectNone, findingTexts, recorded } from './recorded.ts'

type Fields = Record<string, unknown>

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
