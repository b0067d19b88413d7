import { expect, test } from 'vitest'
import { harOf } from '../real-service/record.ts'
import { answered } from './planted.ts'
import { driftOf, findingTexts } from './recorded.ts'

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
