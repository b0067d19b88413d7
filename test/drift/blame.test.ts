import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { command, temporaryFile } from '../cli/in-process.ts'
import { entriesOf, type Har } from './har-changes.ts'
import { driftOf, expectNone, findingTexts, recorded, withBug } from './recorded.ts'

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

type Body = Record<string, unknown>

// The changes of har-changes.ts are those that only the service has.
test.each<[method: string, path: RegExp, change: (body: Body) => Body, finding: string]>([
  ['POST', /\/promote/, (body) => ({ ...body, name: undefined }), 'body /name: is required'],
  [
    'POST',
    /\/teamspaces$/,
    (body) => ({ ...body, access: 'hidden' }),
    'body /access: must be one of "open", "closed"',
  ],
  [
    'POST',
    /\/cancel/,
    (body) => ({ ...body, status: 'validating' }),
    'transition: validating after cancel, instead of cancelling',
  ],
])('a difference that only the emulator has is its fault: %s %s', async (method, path, change, finding) => {
  const send = withBug(method, path, (answer) => {
    if (answer.status < 300) answer.body = change(answer.body as Body)
  })
  const [text, ...others] = findingTexts(await driftOf(await recorded(), { send }))
  expect([text, others]).toEqual([expect.stringMatching(/^emulator /), []])
  expect(text).toContain(finding)
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
