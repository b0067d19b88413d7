import { expect, test } from 'vitest'
import { connect, startEmulator } from '../../src/index.ts'
import { bothWays, createBatch, refusalOf } from './both-ways.ts'

const { ways, emulator } = bothWays()

const USERS = '/organization/teamspaces/teamspace-harbor/users'

test.for(ways)('%s: a sandbox without a name is new, and is removed after its block', async ([, client]) => {
  let name = ''
  {
    await using sandbox = await client().sandbox()
    name = sandbox.name
    expect(sandbox.baseUrl).toBe(`${emulator().url}/@${name}/v1`)
    expect(sandbox.controlUrl).toBe(`${emulator().url}/@${name}/__emulator`)
    expect(await client().sandboxes.show(name)).toMatchObject({ name, persist: false, rate: 0 })
  }
  await expect(client().sandboxes.show(name)).rejects.toMatchObject({ status: 404 })
})

test.for(ways)('%s: an existing name returns that sandbox, which stays', async ([way, client]) => {
  const name = way === 'in process' ? 'taken-1' : 'taken-2'
  await using made = await client().sandbox(name)
  await made.clock.advance('1h')
  {
    await using found = await client().sandbox(name)
    expect(await found.clock.show()).toEqual(await made.clock.show())
  }
  expect((await client().sandboxes.list()).map((each) => each.name)).toContain(name)
  await expect(client().sandbox(name, { seed: 2 })).rejects.toMatchObject({ status: 409, code: 'conflict' })
})

test.for(ways)('%s: concurrent calls share a sandbox, which its creator removes', async ([way, client]) => {
  const name = way === 'in process' ? 'rush-1' : 'rush-2'
  const sandboxes = await Promise.all(Array.from({ length: 5 }, () => client().sandbox(name)))
  const here = async () => (await client().sandboxes.list()).some((each) => each.name === name)
  const left: boolean[] = []
  for (const sandbox of sandboxes) {
    await sandbox[Symbol.asyncDispose]()
    left.push(await here())
  }
  expect(left.at(-1)).toBe(false)
  expect(sandboxes.map((sandbox) => sandbox.apiKey)).toEqual(Array(5).fill('live_demo_owner'))
})

test.for(ways)('%s: the keys of a sandbox come from its fixtures and follow changes', async ([, client]) => {
  await client().ready()
  const keys = { user: 'live_demo_owner', member: 'live_demo_member', service: 'service_demo' }
  expect([client().defaultSandbox.name, emulator().defaultSandbox.keys]).toEqual(['default', keys])
  const owner = { kind: 'user', organization_id: 'org-larkmoor', teamspace_id: 'teamspace-harbor' }
  const api_keys = [{ id: 'key-mine', token: 'live_mine', user_id: 'user-mara', ...owner }]
  const fixtures = { extends: 'demo', collections: { api_keys } }
  await using sandbox = await client().sandbox(undefined, { fixtures })
  expect(sandbox.apiKey).toBe('live_mine')
  expect((await sandbox.fetch(USERS)).status).toBe(200)
  await sandbox.state.delete('api_keys', 'key-mine')
  expect(sandbox.keys).toEqual(keys)
  await sandbox.state.put('api_keys', { id: 'key-new', token: 'service_new', ...owner, kind: 'service' })
  for (const id of ['key-owner', 'key-member', 'key-outsider', 'key-service'])
    await sandbox.state.delete('api_keys', id)
  expect([sandbox.apiKey, sandbox.keys.user]).toEqual(['service_new', null])
  await sandbox.reset({ fixtures: 'demo' })
  expect(sandbox.keys).toEqual(keys)
})

test.for(ways)('%s: a sandbox without known keys throws an error with a fix', async ([, client]) => {
  await using sandbox = await client().sandbox(undefined, { fixtures: 'empty' })
  await sandbox.state.load({ ...(await sandbox.state.document()), collections: {} })
  expect(() => sandbox.apiKey).toThrow(/stores only digests.+state\.put/)
  expect(await refusalOf(sandbox.fetch('/pages'))).toMatchObject({ code: 'no_known_key' })
  expect((await sandbox.fetch('/agents', { headers: { authorization: 'Bearer mine' } })).status).toBe(401)
})

test('over HTTP the keys of the default sandbox are unknown before the first call', async () => {
  const client = connect(emulator().url)
  expect(() => client.defaultSandbox.apiKey).toThrow(/Await ready\(\)/)
  expect(() => client.defaultSandbox.keys).toThrow(/Await ready\(\)/)
  expect((await client.defaultSandbox.fetch(USERS)).status).toBe(200)
  expect(client.defaultSandbox.apiKey).toBe('live_demo_owner')
})

test('the given key is used if the sandbox accepts it or has no known key', async () => {
  const client = connect(emulator().url, { apiKey: 'live_demo_member' })
  expect(client.defaultSandbox.apiKey).toBe('live_demo_member')
  await using sandbox = await client.sandbox()
  expect(sandbox.apiKey).toBe('live_demo_member')
  await sandbox.state.delete('api_keys', 'key-member')
  expect(sandbox.apiKey).toBe('live_demo_owner')
  await sandbox.state.load({ ...(await sandbox.state.document()), collections: {} })
  expect(sandbox.apiKey).toBe('live_demo_member')
})

test.for(ways)('%s: fetch accepts paths, URLs of responses, JSON and headers', async ([, client]) => {
  await using sandbox = await client().sandbox()
  const id = await createBatch(sandbox)
  await sandbox.clock.advance({ until: { batch: id } })
  const { batch } = await sandbox.batches.show(id)
  for (const path of [
    batch.results_url ?? '',
    `batch-predictions/${id}/results`,
    `/v1/batch-predictions/${id}/results`,
    `${sandbox.baseUrl}/batch-predictions/${id}/results`,
  ]) {
    const response = await sandbox.fetch(path)
    expect([response.status, (await response.text()).trim().split('\n').length]).toEqual([200, 3])
  }
  expect((await sandbox.fetch('/pages', { method: 'PUT', json: {} })).status).toBe(405)
  expect((await sandbox.fetch(USERS, { headers: { authorization: 'Bearer nobody' } })).status).toBe(401)
  expect(await refusalOf(sandbox.fetch('https://example.com/pages'))).toMatchObject({ code: 'foreign_url' })
})

test('an emulator can be closed twice, and its sandboxes can be disposed afterwards', async () => {
  const own = await startEmulator({ port: 0, ephemeral: true, rate: 0 })
  const remote = connect(own.url)
  const sandboxes = [await own.sandbox(), await remote.sandbox()]
  await own.close()
  await own.close()
  await own[Symbol.asyncDispose]()
  for (const sandbox of sandboxes) await sandbox[Symbol.asyncDispose]()
  expect(await refusalOf(own.defaultSandbox.clock.show())).toMatchObject({ status: 0, code: 'closed' })
  expect(await refusalOf(own.ready())).toMatchObject({ code: 'closed' })
  expect(await refusalOf(remote.defaultSandbox.clock.show())).toMatchObject({ status: 0, code: 'no_answer' })
})

test.for(ways)('%s: deleting a sandbox twice is an error, disposing it then is not', async ([, client]) => {
  const sandbox = await client().sandbox()
  await sandbox.delete()
  await expect(sandbox.delete()).rejects.toMatchObject({ status: 404 })
  await sandbox[Symbol.asyncDispose]()
  await client().defaultSandbox[Symbol.asyncDispose]()
  await expect(client().defaultSandbox.delete()).rejects.toMatchObject({ status: 409, code: 'conflict' })
})

test.for(ways)('%s: calls on a removed sandbox do not create it again', async ([, client]) => {
  const sandbox = await client().sandbox()
  const fault = await sandbox.faults.arm({ match: 'everything', do: [{ respond: { status: 500 } }] })
  await sandbox.delete()
  await fault.remove()
  expect(await refusalOf(sandbox.clock.show())).toMatchObject({ status: 404, code: 'not_found' })
  expect(await refusalOf(sandbox.fetch(USERS))).toMatchObject({ status: 404, code: 'not_found' })
  expect(() => sandbox.events()).toThrow(/has been removed/)
  await expect(client().sandboxes.show(sandbox.name)).rejects.toMatchObject({ status: 404 })
})

test('a refused start reports the problem and its place', async () => {
  const settings = { 'succes.create': 200 }
  const refusal = await refusalOf(startEmulator({ port: 0, ephemeral: true, settings }))
  expect(refusal).toMatchObject({ code: 'validation_failed', issues: [{ pointer: '/succes.create' }] })
  expect(String(refusal)).toMatch(/startEmulator\(\): .+"success\.create"/)
  const { port } = emulator()
  await expect(startEmulator({ port, ephemeral: true })).rejects.toMatchObject({
    name: 'EmulatorError',
    code: 'cannot_listen',
    message: `startEmulator(): Port ${port} on 127.0.0.1 is in use. Give another port or host, or port 0 for a free one.`,
  })
  const fixtures = { colections: {} }
  await expect(startEmulator({ port: 0, ephemeral: true, fixtures })).rejects.toThrow(/colections/)
})
