import { aBatch, type SandboxClient } from 'agent-workspace-emulator'
import { expect, syncClock, test } from 'agent-workspace-emulator/vitest'
import got from 'got'
import { pageOfViews } from '../../support/react-page.ts'

const HOUR = 3_600_000

/** The real clock, also while the timers are fake. */
const elapsed = performance.now.bind(performance)

/**
 * Defines one case: a test that prints the real milliseconds of its body, and of the part from the start of the client. Each
 * runs in a process of its own.
 */
function measure(name: string, body: (sandbox: SandboxClient, onStart: () => void) => Promise<void>): void {
  test(name, async ({ sandbox }) => {
    const began = elapsed()
    let started = began
    await body(sandbox, () => {
      started = elapsed()
    })
    const ended = elapsed()
    process.stdout.write(`FIGURES ${ended - began} ${ended - started}\n`)
  })
}

measure('got waits for an hour of Retry-After', async (sandbox, onStart) => {
  await syncClock(sandbox)
  const quota = { remaining: 0, reset_in_s: 3600, reject: true }
  await sandbox.faults.arm({ match: 'everything', do: [{ quota }], times: 1 })
  onStart()
  const headers = { authorization: `Bearer ${sandbox.apiKey}` }
  const views = got.get(`${sandbox.baseUrl}/data-views`, { headers })
  await sandbox.clock.advance('2h')
  expect((await views).statusCode).toBe(200)
})

measure('an interval polls for an hour', async (sandbox, onStart) => {
  await syncClock(sandbox)
  let count = 0
  const ask = async (): Promise<void> => {
    await (await sandbox.fetch('/data-views')).json()
    count += 1
  }
  onStart()
  const poll = setInterval(ask, HOUR / 6)
  await sandbox.clock.advance('1h')
  clearInterval(poll)
  expect(count).toBe(6)
})

measure('a client polls a batch of 24 hours', async (sandbox, onStart) => {
  await syncClock(sandbox)
  const start = Date.now()
  const read = async (response: Promise<Response>) =>
    (await (await response).json()) as { readonly id: string; readonly status: string }
  const { id } = await read(sandbox.fetch('/batch-predictions', { json: aBatch() }))
  await sandbox.batches.change(id, { pace: { in_progress: '23h' } })
  const poll = async (): Promise<number> => {
    while ((await read(sandbox.fetch(`/batch-predictions/${id}`))).status !== 'completed')
      await new Promise((resolve) => setTimeout(resolve, 4 * HOUR))
    return Date.now() - start
  }
  onStart()
  const done = poll()
  await sandbox.clock.advance('24h')
  expect(await done).toBe(24 * HOUR)
})

measure('a React component has a time-out of 30 seconds', async (sandbox, onStart) => {
  await syncClock(sandbox)
  await sandbox.faults.arm({ match: 'everything', do: [{ cut: { at: 'before-head', how: 'pause' } }] })
  onStart()
  const page = pageOfViews(sandbox)
  await sandbox.clock.advance('30s')
  expect(page.text()).toBe('the service does not respond')
})
