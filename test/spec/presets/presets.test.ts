import { expect, test } from 'vitest'
import { workspaceService } from '../../../src/service.ts'
import { viaFetch, viaHttp } from '../../support/wire-client.ts'
import { bodySights } from './body-sights.ts'
import { connectionSights } from './connection-sights.ts'
import { limitSights } from './limit-sights.ts'
import { lineSights } from './line-sights.ts'
import { retrySights } from './retry-sights.ts'
import type { Sight } from './sight.ts'
import { theatre } from './stage.ts'
import { batchSights, keySights, listSights } from './state-sights.ts'
import { webhookSights } from './webhook-sights.ts'

const sights: readonly Sight[] = [
  ...limitSights,
  ...retrySights,
  ...connectionSights,
  ...bodySights,
  ...lineSights,
  ...listSights,
  ...batchSights,
  ...webhookSights,
  ...keySights,
]

const CLIENTS = { fetch: viaFetch, 'node:http': viaHttp() }

/** Looks at each preset by each client. Those that have to wait get one, unless a number is asked for. */
const asked = process.env.PRESET_RUNS
const TIMES = { quick: Number(asked ?? 2), slow: Number(asked ?? 1) }

/** Real milliseconds for one look, at most. */
const PATIENCE = 6_000

test('every preset has its sight, and every sight its preset', () => {
  expect(sights.map(({ preset }) => preset).sort()).toEqual([...workspaceService.presets.keys()].sort())
})

test.for(sights.map((sight) => [sight.preset, sight] as const))(
  '%s: fetch and node:http see it, each time the same',
  { timeout: Math.max(300_000, 2 * TIMES.slow * PATIENCE) },
  async ([, { look, sees, slow }]) => {
    const { stage } = await theatre()
    const times = slow ? TIMES.slow : TIMES.quick
    for (const client of Object.values(CLIENTS)) {
      for (let run = 0; run < times; run++) {
        expect(await look(await stage(client))).toEqual(sees)
      }
    }
  },
)
