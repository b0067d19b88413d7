import { aPage, type SandboxClient } from 'agent-workspace-emulator'
import { describe, expect, test } from 'vitest'
import { faultsIn } from './conduct.ts'
import { CorrectClient } from './correct.ts'
import { newBatch, read, sharedEmulator } from './emulator.ts'
import { START, serviceOf } from './situation.ts'
import { VirtualTime } from './virtual-time.ts'

// What looks like a bug and is none; src/core/conduct has such a use for each verdict.

const { sandbox: newSandbox } = sharedEmulator()

const USERS = '/organization/teamspaces/teamspace-harbor/users'

const uses: Readonly<Record<string, (sandbox: SandboxClient) => Promise<unknown>>> = {
  'a dashboard that polls every two seconds, also after the batch is completed': async (sandbox) => {
    const id = await newBatch(sandbox)
    for (let poll = 0; poll < 30; poll++) {
      await read(sandbox, `/batch-predictions/${id}`)
      await read(sandbox, `${USERS}?limit=10`)
      await sandbox.clock.advance('2s')
    }
  },
  'a prefetch of a page that is then read': async (sandbox) => {
    await Promise.all([read(sandbox, `${USERS}?limit=10`), read(sandbox, `${USERS}?limit=10`)])
    await read(sandbox, `${USERS}?limit=10`)
  },
  'a prefetch that is given up': async (sandbox) => {
    const leave = new AbortController()
    await sandbox.faults.preset('slow', { times: 1 })
    const prefetch = sandbox.fetch(`${USERS}?limit=10`, { signal: leave.signal }).catch(() => {})
    await sandbox.requests.wait({ operation: 'teamspace-users.list' })
    leave.abort()
    await prefetch
    await read(sandbox, `${USERS}?limit=10`)
  },
  'two tabs that meet one limit': async (sandbox) => {
    // Client and emulator share a process: without a pause, the first response could be sent before the second request.
    const refusal = [{ quota: { reject: true, reset_in_s: 2 } }, { pace: { before_head_ms: 200 } }] as const
    await sandbox.faults.preset('rate-limited', { do: refusal, times: 2 })
    const tab = () => read(sandbox, `${USERS}?limit=10`)
    expect(await Promise.all([tab(), tab()])).toEqual([429, 429])
    await sandbox.clock.advance('2s')
    expect(await Promise.all([tab(), tab()])).toEqual([200, 200])
  },
  'a test that expects a limit, and goes on at once with another call': async (sandbox) => {
    await sandbox.limits.fill('pages.create', { remaining: 0 })
    expect((await sandbox.fetch('/pages', { json: aPage() })).status).toBe(429)
    expect(await read(sandbox, USERS)).toBe(200)
  },
  'a test that reads results too early, and again when they are there': async (sandbox) => {
    const id = await newBatch(sandbox)
    expect(await read(sandbox, `/batch-predictions/${id}/results`)).toBe(409)
    await sandbox.clock.advance({ until: { batch: id } })
    expect(await read(sandbox, `/batch-predictions/${id}/results`)).toBe(200)
  },
  'a list of which only the first page is of interest': async (sandbox) => {
    await read(sandbox, `${USERS}?limit=5`)
    await read(sandbox, `${USERS}?limit=5&search=a`)
  },
}

describe.concurrent('neither an error nor a warning', () => {
  test.for(Object.entries(uses))('%s', async ([, use]) => {
    await using sandbox = await newSandbox()
    await use(sandbox)
    expect(faultsIn((await sandbox.conduct()).findings)).toEqual([])
  })

  test('a hundred clients in one sandbox, all limited once', async () => {
    await using sandbox = await newSandbox()
    await sandbox.faults.preset('rate-limited', { times: 100 })
    const time = new VirtualTime(sandbox.clock, Date.parse(START))
    const clients = Array.from(
      { length: 100 },
      (_, n) => new CorrectClient(serviceOf(sandbox, time, { seed: n, timeout: 20_000 })),
    )
    await time.run(clients.map((client, n) => () => client.createPage(`Roof plan ${n}`)))
    expect(await sandbox.requests.count({ status: 200 })).toMatchObject({ matched: 100 })
    expect(faultsIn((await sandbox.conduct()).findings)).toEqual([])
  })
})
