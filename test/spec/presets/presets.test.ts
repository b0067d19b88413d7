import { expect, test } from 'vitest'
import { workspaceService } from '../../../src/emulator/service.ts'
import { viaFetch, viaHttp } from '../../support/wire-client.ts'
import { batchCases, gateCases, keyCases } from './batch-cases.ts'
import { connectionCases } from './connection-cases.ts'
import { bodyCases, lineCases, listCases } from './content-cases.ts'
import { subjectOf } from './setup.ts'
import { limitCases, retryCases } from './traffic-cases.ts'
import { webhookCases } from './webhook-cases.ts'

const cases = [
  ...[limitCases, retryCases, connectionCases, bodyCases, lineCases],
  ...[listCases, batchCases, webhookCases, keyCases, gateCases],
].flat()

test('every preset has a case, and every case a preset', () => {
  expect(cases.map(({ preset }) => preset).sort()).toEqual([...workspaceService.presets.keys()].sort())
})

test.for(cases)('$preset has the same effect for fetch and node:http', async ({ run, expected }) => {
  for (const client of [viaFetch, viaHttp()]) expect(await run(await subjectOf(client))).toEqual(expected)
})
