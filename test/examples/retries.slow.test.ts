// Three HTTP clients with built-in retries, each used for a whole batch under two of the shipped scenarios.
//
// For such a client Retry-After is real time, whatever the virtual clock does. These two scenarios therefore always use one
// second, and the tests wait at the same time. Nothing else needs time:
// - `batch.pace` counts polls, so a batch is done after enough polls;
// - with rate 1 from the start, virtual time equals real time. If Retry-After is a date, a client compares it with its own
//   clock: if the clock of the sandbox is an hour ahead, it waits an hour; if it is an hour behind, it does not wait.
import { aBatch } from 'agent-workspace-emulator'
import { test as base } from 'agent-workspace-emulator/vitest'
import { describe, expect } from 'vitest'
import { runWithGot } from './retries/with-got.ts'
import { runWithKy } from './retries/with-ky.ts'
import { runWithUndici } from './retries/with-undici.ts'

const clients = [['got', runWithGot] as const, ['ky', runWithKy] as const, ['undici', runWithUndici] as const]

const test = base.extend(
  'emulatorOptions',
  { scope: 'file' },
  {
    rate: 1,
    settings: {
      'batch.pace': { validating: { polls: 1 }, in_progress: { polls: 3 }, finalizing: { polls: 1 } },
    },
  },
)

describe.concurrent('under rate-limit-storm', () => {
  test.override({ sandboxOptions: { scenario: 'rate-limit-storm' } })

  test.for(clients)(
    '%s waits as long as Retry-After requires, and succeeds',
    async ([, run], { sandbox }) => {
      const lines = await run(sandbox, aBatch({ items: 3 }), 'order-1')

      expect(lines.map(({ status }) => status)).toEqual(['succeeded', 'succeeded', 'succeeded'])
      expect(await sandbox.state.list('batch_predictions')).toHaveLength(1)
      await expect(sandbox).toHaveReceived({ operation: 'batch-predictions.create', status: 429 }, 4)
      await expect(sandbox).toHaveReceived({ operation: 'batch-predictions.retrieve', status: 429 }, 4)
      await expect(sandbox).toHaveRespectedRetryAfter()
    },
  )
})

describe.concurrent('under flaky-network', () => {
  test.override({ sandboxOptions: { scenario: 'flaky-network' } })

  test.for(clients)('%s succeeds and creates only one batch', async ([, run], { sandbox }) => {
    const lines = await run(sandbox, aBatch({ items: 3 }), 'order-1')

    expect(lines.map(({ custom_id }) => custom_id)).toEqual(['item-1', 'item-2', 'item-3'])
    expect(await sandbox.state.list('batch_predictions')).toHaveLength(1)
    // The first response was lost after the commit, so the batch existed when the request was repeated with its key.
    await expect(sandbox).toHaveReceived(
      { operation: 'batch-predictions.create', idempotency_key: 'order-1' },
      2,
    )
    await expect(sandbox).toHaveRespectedRetryAfter({ status: 503 })
  })
})
