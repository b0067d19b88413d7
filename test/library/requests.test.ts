import { expect, onTestFinished, test } from 'vitest'
import { bothWays, type Way } from './both-ways.ts'

const { ways } = bothWays()

const USERS = '/organization/teamspaces/teamspace-harbor/users'

test.for(ways)('%s: requests can be listed, filtered and cleared', async ([, client]) => {
  await using sandbox = await client().sandbox()
  await sandbox.fetch(USERS)
  await sandbox.fetch('/pages', { json: { name: 7 }, headers: { 'idempotency-key': 'once' } })
  const data = await sandbox.requests.list()
  expect(data.map(({ method, status }) => `${method} ${status}`)).toEqual(['GET 200', 'POST 400'])
  expect(await sandbox.requests.count()).toMatchObject({ matched: 2, dropped: 0 })
  const [first] = data
  expect(first).toMatchObject({ operation: 'teamspace-users.list', sandbox: sandbox.name, chosen_by: 'path' })
  const idsOf = async (search: Parameters<typeof sandbox.requests.list>[0]) =>
    (await sandbox.requests.list(search)).map(({ id }) => id)
  expect(await idsOf({ status: '4xx', method: 'POST', path: '*/pages' })).toEqual([data[1]?.id])
  expect(await idsOf({ status: 200, limit: 1 })).toEqual([first?.id])
  expect(await idsOf({ since: first?.id })).toEqual([data[1]?.id])
  const { matched } = await sandbox.requests.count({ idempotency_key: 'once', operation: 'pages.create' })
  expect(matched).toBe(1)
  await sandbox.requests.clear()
  expect(await sandbox.requests.list()).toEqual([])
})

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

test.for(ways)('%s: explain finds a request of any sandbox by the id in its response', async ([, client]) => {
  await using sandbox = await client().sandbox()
  const response = await sandbox.fetch(USERS)
  const id = response.headers.get('x-emulator-request-id') ?? ''
  const trace = await client().defaultSandbox.requests.explain(id)
  expect(trace).toMatchObject({
    request: { id, method: 'GET' },
    sandbox: { name: sandbox.name },
    route: { operation: 'teamspace-users.list' },
    caller: { kind: 'user', user_id: 'user-mara' },
    error: null,
  })
  expect(trace.steps.filter(({ outcome }) => outcome === 'decided')).toMatchObject([{ step: 'handle' }])
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
