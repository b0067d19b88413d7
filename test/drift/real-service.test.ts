import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { command, temporaryFile } from '../cli/in-process.ts'
import { harOf } from '../real-service/record.ts'
import { answered, hasUsualOrder, planted, testPlanted, withoutBugs } from './planted.ts'
import { driftOf, expectNone, findingTexts } from './recorded.ts'

// It is the first that needs the recording: 300 exchanges with the service.
test('the bugs of a service and its answers to open questions are found', { timeout: 120_000 }, async () => {
  const report = await driftOf(harOf(await answered()))
  expect(findingTexts(report)).toEqual([
    'contract GET /conversations/{...}/messages: the document has no such operation',
    'contract GET /knowledge: the document has no such operation',
    'contract GET /knowledge/{...}: the document has no such operation',
    'contract POST /organization/teamspaces: body /plan: is not a known field',
    // One list is in another order than the others.
    'open lists.order',
    'open limits.overrides',
    'open names.cloud_b',
    'open teamspace.access.default',
    'open success.create',
    'open page.parent.missing',
    'open errors.deprecated_status_code',
    'open errors.codes',
    'open mcp.list.has_more',
    'open names.warehouse',
    'open names.trigger_sources',
  ])
})

test('--write-settings has the answers to ten open questions, with which nothing is left', async () => {
  const others = withoutBugs(await answered()).filter(hasUsualOrder)
  const traffic = temporaryFile('traffic.har', harOf(others))
  const file = temporaryFile('settings.json', '{}')
  const first = await command(['drift', traffic, '--write-settings', file, '--fail-on', 'emulator', '--json'])
  const { findings } = JSON.parse(first.out)
  expect([first.code, findings.length]).toEqual([0, 10])
  const settings = JSON.parse(readFileSync(file, 'utf8'))
  expect(settings).toMatchObject({
    'success.create': 201,
    'success.overrides': {
      'skills.promote': 200,
      'batch-predictions.create': 202,
      'batch-predictions.cancel': 200,
    },
    'names.cloud_b': 'stratus',
    'names.cloud_a': 'nimbus',
  })
  expectNone(await driftOf(harOf(others), { settings }))
})

test('a list in another order than the others is an open question that no value answers', async () => {
  const { out } = await command(['drift', temporaryFile('traffic.har', harOf(withoutBugs(await answered())))])
  expect(out).toContain('U020 lists.order: "oldest", while other exchanges show another value: ')
})

testPlanted(planted.slice(0, 2))
