import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { command, temporaryFile } from '../cli/in-process.ts'
import { entriesOf, type Har, harChanges } from './har-changes.ts'
import { driftOf, expectNone, findingTexts, recorded } from './recorded.ts'

type Fields = Record<string, unknown>

/** Requests with this body are refused with 400. */
const refusedWith = (operation: string, sent?: object) => (har: Har) => {
  for (const { request, response } of entriesOf(har, operation, 200)) {
    if (sent !== undefined) request.postData = { text: JSON.stringify(sent) }
    response.status = 400
    const codes = { status_code: 400, statusCode: 400, error: 'validation_failed', message: 'No.' }
    response.content.text = JSON.stringify({ ...codes, retryable: false, details: { errors: [] } })
  }
}

const unknown = { connector_id: 'x', connection_provider_id: 'y', unknown: 1 }

/** What no exchange shows by itself: only another value of the setting makes the answers alike. */
const searched: readonly (readonly [setting: string, value: unknown, (har: Har) => void])[] = [
  ['patch.empty', 'reject', refusedWith('teamspaces.update', {})],
  ['unknown_fields', 'reject', refusedWith('connections.create', unknown)],
  ['consumption.without_dates', 'reject', refusedWith('consumption.list')],
]

test.each(searched)('an answer that depends on %s alone is an open question', async (key, value, change) => {
  const har = await recorded()
  change(har)
  const report = await driftOf(har)
  expect([findingTexts(report), report.settings]).toEqual([[`open ${key}`], { [key]: value }])
  expectNone(await driftOf(har, { settings: report.settings }))
})

test('ten open questions in one recording have their settings, which make all of them disappear', async () => {
  const har = await recorded()
  const keys = new Set<string>()
  // The first changes the status by which the others find their entries.
  for (const { change, settings } of harChanges.toReversed()) {
    // Another of them sets statusCode again.
    if (settings === undefined || 'errors.deprecated_status_code' in settings) continue
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
  const wrong: Fields = {
    id: undefined,
    name: null,
    scope: 'galaxy',
    created_at: 'yesterday',
    object: 'sheet',
    extra: 1,
  }
  const causes = Object.entries(wrong).map(([key, value]) => ({ [key]: value }))
  const entries = Array.from({ length: 200 }, (_, n) => {
    const entry = structuredClone(page) as NonNullable<typeof page>
    const body = { ...JSON.parse(entry.response.content.text ?? ''), ...causes[n % 6] }
    entry.response.content.text = JSON.stringify(body)
    return entry
  })
  const { findings } = await driftOf({ log: { entries } })
  const counts = findings.map(({ blame, count }) => `${blame} ${count}`).toSorted()
  expect(counts).toEqual([...Array(4).fill('contract 33'), ...Array(2).fill('contract 34')])
})

test('--fail-on chooses whose differences make the exit code 1, and --junit and --markdown have them', async () => {
  const har = await recorded()
  for (const { response } of entriesOf(har, 'skills.promote', 200))
    response.content.text = (response.content.text ?? '').replace('"object":"skill",', '')
  const file = temporaryFile('traffic.har', JSON.stringify(har))
  const junit = temporaryFile('junit.xml', '')
  const codeOf = async (...flags: string[]) => (await command(['drift', file, ...flags])).code
  const { code, out } = await command(['drift', file, '--markdown', '--junit', junit])
  expect(code).toBe(1)
  expect(await codeOf('--fail-on', 'contract')).toBe(1)
  expect(await codeOf('--fail-on', 'emulator', '--fail-on', 'service')).toBe(0)
  expect(await codeOf('--fail-on', 'nobody')).toBe(2)
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
