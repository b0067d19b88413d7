import { expect, test } from 'vitest'
import { workspaceService } from '../../../src/resources/index.ts'
import { viaFetch, viaHttp } from '../../support/wire-client.ts'
import { bodySights } from './body-sights.ts'
import { connectionSights } from './connection-sights.ts'
import { limitSights } from './limit-sights.ts'
import { lineSights } from './line-sights.ts'
import { retrySights } from './retry-sights.ts'
import type { Sight } from './sight.ts'
import { theatre } from './stage.ts'
import { webhookSights } from './webhook-sights.ts'
import { batchSights, keySights, listSights } from './world-sights.ts'

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

/** Looks at each preset, a third of them for those that have to wait. */
const TIMES = Number(process.env.PRESET_RUNS ?? 5)

test('every preset has its sight, and every sight its preset', () => {
  expect(sights.map(({ preset }) => preset).sort()).toEqual([...workspaceService.presets.keys()].sort())
})

test.for(sights.map((sight) => [sight.preset, sight] as const))(
  '%s: fetch and node:http see it, each time the same',
  async ([, { look, sees, slow }]) => {
    const { stage } = await theatre()
    for (const client of Object.values(CLIENTS)) {
      for (let run = 0; run < (slow ? Math.ceil(TIMES / 5) : TIMES); run++) {
        expect(await look(await stage(client))).toEqual(sees)
      }
    }
  },
)
