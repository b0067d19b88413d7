import { expect, onTestFinished, test } from 'vitest'
import { bothWays, type Way } from './both-ways.ts'

const { ways } = bothWays()

const USERS = '/organization/teamspaces/teamspace-harbor/users'

test.for(ways)(
  '%s: a failed verification returns the nearest request and does not throw',
  async ([, client]) => {
    await using sandbox = await client().sandbox()
    await sandbox.fetch(USERS)
    const match = { operation: 'teamspace-users.list' }
    const data = await sandbox.requests.list()
    const ids = data.map(({ id }) => id)
    expect(await sandbox.requests.verify(match)).toEqual({
      passed: true,
      actual: 1,
      expected: { at_least: 1 },
      matched: ids,
    })
    expect(await sandbox.requests.verify({ ...match, method: 'POST' }, { exactly: 2 })).toMatchObject({
      passed: false,
      actual: 0,
      expected: { exactly: 2 },
      nearest: [{ id: ids[0], missed: [{ what: 'method', expected: 'POST', actual: 'GET' }] }],
    })
  },
)

test.for(ways)('%s: wait resolves when the expected requests arrive later', async ([, client]) => {
  await using sandbox = await client().sandbox()
  const waiting = sandbox.requests.wait(
    { operation: 'teamspace-users.list' },
    { count: 2, timeoutMs: 30_000 },
  )
  await sandbox.fetch(USERS)
  await sandbox.fetch(USERS)
  expect(await waiting).toMatchObject({ passed: true, actual: 2, expected: { at_least: 2 } })
  expect(await sandbox.requests.wait({ operation: 'pages.create' }, { timeoutMs: 1 })).toMatchObject({
    passed: false,
    timed_out: true,
    description: 'Not enough matching requests came within 1 ms.',
  })
})

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
