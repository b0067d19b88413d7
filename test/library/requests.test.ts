import { expect, onTestFinished, test } from 'vitest'
import { bothWays, type Way } from './both-ways.ts'

const { ways } = bothWays()

const USERS = '/organization/teamspaces/teamspace-harbor/users'

test.for(ways)('%s: an aborted wait rejects with the reason of its signal', async ([, client]) => {
  await using sandbox = await client().sandbox()
  const signal = AbortSignal.abort(new Error('enough'))
  await expect(sandbox.requests.wait({ method: 'GET' }, { signal })).rejects.toThrow('enough')
  const leaving = new AbortController()
  const waiting = sandbox.requests.wait({ method: 'GET' }, { signal: leaving.signal })
  leaving.abort(new Error('later'))
  await expect(waiting).rejects.toThrow('later')
})

test('in process: many waits run at the same time without a warning of Node', async () => {
  const warnings: Error[] = []
  const hear = (warning: Error) => void warnings.push(warning)
  process.on('warning', hear)
  onTestFinished(() => void process.off('warning', hear))
  const [[, client]] = ways as [Way]
  await using sandbox = await client().sandbox()
  const waits = Array.from({ length: 20 }, () =>
    sandbox.requests.wait({ operation: 'teamspace-users.list' }, { timeoutMs: 30_000 }),
  )
  await sandbox.fetch(USERS)
  expect((await Promise.all(waits)).every(({ passed }) => passed)).toBe(true)
  expect(warnings).toEqual([])
})
