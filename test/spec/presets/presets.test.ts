import { expect, test } from 'vitest'
import { workspaceService } from '../../../src/emulator/service.ts'
import { viaFetch, viaHttp } from '../../support/wire-client.ts'
import { bodyCases } from './body-cases.ts'
import { connectionCases } from './connection-cases.ts'
import { limitCases } from './limit-cases.ts'
import { lineCases } from './line-cases.ts'
import type { PresetCase } from './preset-case.ts'
import { retryCases } from './retry-cases.ts'
import { setup } from './setup.ts'
import { batchCases, gateCases, keyCases, listCases } from './state-cases.ts'
import { webhookCases } from './webhook-cases.ts'

const cases: readonly PresetCase[] = [
  ...limitCases,
  ...retryCases,
  ...connectionCases,
  ...bodyCases,
  ...lineCases,
  ...listCases,
  ...batchCases,
  ...webhookCases,
  ...keyCases,
  ...gateCases,
]

const CLIENTS = { fetch: viaFetch, 'node:http': viaHttp() }

/** Runs of each preset through each client. */
const TIMES = Number(process.env.PRESET_RUNS ?? 1)

/** The timeout of one run in real milliseconds. */
const PATIENCE = 6_000

test('every preset has a case, and every case a preset', () => {
  expect(cases.map(({ preset }) => preset).sort()).toEqual([...workspaceService.presets.keys()].sort())
})

test.for(cases.map((each) => [each.preset, each] as const))(
  '%s has the same effect for fetch and node:http',
  { timeout: Math.max(300_000, 2 * TIMES * PATIENCE) },
  async ([, { run, expected }]) => {
    const { subject } = await setup()
    for (const client of Object.values(CLIENTS)) {
      for (let n = 0; n < TIMES; n++) {
        expect(await run(await subject(client))).toEqual(expected)
      }
    }
  },
)
