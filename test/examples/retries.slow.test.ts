// Three HTTP clients with retries of their own, each sent through a whole batch under two of the shipped scenarios.
//
// What Retry-After asks for is real time to such a client, whatever the virtual clock does: no rate makes it shorter. These two
// scenarios therefore ask for one second each time, and the tests spend it side by side. Nothing else costs time:
// - `batch.pace` counts polls, so that a batch is done as soon as somebody has asked often enough;
// - rate 1, from the start of the emulator on, keeps virtual time beside real time. A client reckons with its own clock when
//   Retry-After is a date: where the sandbox's clock is an hour ahead it waits for an hour, where it is behind not at all.
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

  test.for(clients)('%s waits as it is told and gets through', async ([, run], { sandbox }) => {
    const lines = await run(sandbox, aBatch({ items: 3 }), 'order-1')

    expect(lines.map(({ status }) => status)).toEqual(['succeeded', 'succeeded', 'succeeded'])
    expect(await sandbox.state.list('batch_predictions')).toHaveLength(1)
    await expect(sandbox).toHaveReceived({ operation: 'batch-predictions.create', status: 429 }, 4)
    await expect(sandbox).toHaveReceived({ operation: 'batch-predictions.retrieve', status: 429 }, 4)
    await expect(sandbox).toHaveRespectedRetryAfter()
  })
})

describe.concurrent('under flaky-network', () => {
  test.override({ sandboxOptions: { scenario: 'flaky-network' } })

  test.for(clients)('%s gets through, and there is one batch', async ([, run], { sandbox }) => {
    const lines = await run(sandbox, aBatch({ items: 3 }), 'order-1')

    expect(lines.map(({ custom_id }) => custom_id)).toEqual(['item-1', 'item-2', 'item-3'])
    expect(await sandbox.state.list('batch_predictions')).toHaveLength(1)
    // The first response was lost behind the commit, so that the batch was there when the request came again with its key.
    await expect(sandbox).toHaveReceived(
      { operation: 'batch-predictions.create', idempotency_key: 'order-1' },
      2,
    )
    await expect(sandbox).toHaveRespectedRetryAfter({ status: 503 })
  })
})
