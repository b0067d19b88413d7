import { expect, test } from 'vitest'
import { aBatch, aPage, connect, type SandboxClient, startEmulator } from '../../src/index.ts'
import { bothWays, refusalOf } from '../library/both-ways.ts'
import { bearer, viaHttp } from '../support/wire-client.ts'

const { ways, emulator } = bothWays()
const CREATE = { operation: 'pages.create' } as const
const BATCH = { operation: 'batch-predictions.create' } as const

const page = (sandbox: SandboxClient, init: object = {}) =>
  sandbox.fetch('/pages', { json: aPage(), ...init })
const batch = (sandbox: SandboxClient, key: string) =>
  sandbox.fetch('/batch-predictions', { json: aBatch(), headers: { 'idempotency-key': key } })
const endOf = (sent: Promise<Response>) => sent.then(({ status }) => status).catch(() => 'cut' as const)
const count = async (sandbox: SandboxClient, collection = 'pages') =>
  (await sandbox.state.list(collection)).length

test.for(ways)('%s: of two requests with one key, the first released creates', async ([, client]) => {
  await using sandbox = await client().sandbox()
  const before = await count(sandbox, 'batch_predictions')
  await using gate = await sandbox.gates.hold(BATCH, { at: 'before-handler' })
  const a = batch(sandbox, 'one')
  const [first] = await gate.waiting()
  const b = batch(sandbox, 'one')
  const [, second] = await gate.waiting(2)
  const held = { gate: 'gate', at: 'before-handler', name: 'POST /v1/batch-predictions' }
  expect([first, second]).toMatchObject([held, held])
  expect(await count(sandbox, 'batch_predictions')).toBe(before)
  expect(await gate.release({ requests: [second ?? ''] })).toEqual([second])
  const created = await b
  await gate.release()
  const repeated = await a
  expect(await created.json()).toEqual(await repeated.json())
  expect(await count(sandbox, 'batch_predictions')).toBe(before + 1)
  const ids = [created, repeated].map(({ headers }) => headers.get('x-emulator-request-id'))
  expect(ids).toEqual([second?.id, first?.id])
  const shown = JSON.stringify(await sandbox.requests.explain(first?.id ?? ''))
  expect(shown).toContain('It waited before its handler at the gate gate from ')
  expect(shown).toMatch(/"idempotency":[^}]*"replay"/)
})

test.for(ways)('%s: the first ones are released, and the others are aborted', async ([, client]) => {
  await using sandbox = await client().sandbox()
  const before = await count(sandbox)
  await using gate = await sandbox.gates.hold(CREATE, { at: 'before-handler' })
  const sent = [page(sandbox), page(sandbox), page(sandbox)].map(endOf)
  const held = await gate.waiting(3)
  expect(await sandbox.gates.list()).toEqual([{ id: gate.id, at: 'before-handler', held }])
  expect((await sandbox.clock.show()).held).toBe(3)
  expect(await gate.release({ count: 1 })).toEqual(held.slice(0, 1))
  expect(await gate.abort()).toEqual(held.slice(1))
  expect((await Promise.all(sent)).toSorted()).toEqual([200, 'cut', 'cut'])
  expect(await count(sandbox)).toBe(before + 1)
  const entries = await sandbox.requests.list(CREATE)
  expect(entries.map(({ status }) => status).toSorted()).toEqual([0, 0, 200])
  expect((await sandbox.clock.show()).held).toBe(0)
})

test.for(ways)('%s: removing a gate, its block and all rules releases what waits', async ([, client]) => {
  await using sandbox = await client().sandbox()
  for (const at of ['before-handler', 'after-handler'] as const)
    for (const end of ['remove', 'block', 'clear'] as const) {
      const gate = await sandbox.gates.hold(CREATE, { at })
      const sent = page(sandbox)
      await gate.waiting()
      if (end === 'remove') await gate.remove()
      else if (end === 'block') await gate[Symbol.asyncDispose]()
      else await sandbox.faults.clear()
      expect((await sent).status).toBe(200)
    }
})

test('a reset, a restore, a deletion and the end of the emulator abort what waits, and a warning names it', async () => {
  const warnings: string[] = []
  const logger = { info: () => {}, warn: (text: string) => warnings.push(text), error: () => {} }
  const own = await startEmulator({ port: 0, ephemeral: true, rate: 0, logger })
  const { defaultSandbox: last } = connect(own.url)
  const sandbox = await connect(own.url).sandbox('w1')
  const present = await count(sandbox)
  await sandbox.snapshots.save('before')
  const abortedBy = async (of: SandboxClient, end: () => Promise<unknown>) => {
    const before = await of.gates.hold(CREATE, { at: 'before-handler' })
    const after = await of.gates.hold(BATCH, { at: 'after-handler' })
    const first = endOf(page(of))
    const [a] = await before.waiting()
    const second = endOf(batch(of, 'k'))
    const [b] = await after.waiting()
    await end()
    expect(await Promise.all([first, second])).toEqual(['cut', 'cut'])
    expect(warnings.splice(0)).toEqual([
      `The sandbox ${of.name} was reset, replaced or closed while requests waited at gates. They were aborted: ${a?.name} (${a?.id}) at gate, ${b?.name} (${b?.id}) at gate-2.`,
    ])
  }
  for (const end of [() => sandbox.reset(), () => sandbox.snapshots.restore('before')]) {
    await abortedBy(sandbox, end)
    expect([await count(sandbox), await sandbox.gates.list()]).toEqual([present, []])
  }
  await abortedBy(sandbox, () => sandbox.delete())
  await abortedBy(last, () => own.close())
})

test('a client that leaves before the handler never runs it', async () => {
  await using sandbox = await connect(emulator().url).sandbox()
  const before = await count(sandbox)
  await using gate = await sandbox.gates.hold(CREATE, { at: 'before-handler' })
  const leave = new AbortController()
  const sent = page(sandbox, { signal: leave.signal }).catch(() => 'left')
  await gate.waiting()
  leave.abort()
  expect(await sent).toBe('left')
  await sandbox.requests.wait(CREATE)
  expect(await sandbox.gates.list()).toMatchObject([{ held: [] }])
  await gate.release()
  expect([await count(sandbox), await sandbox.requests.list(CREATE)]).toMatchObject([before, [{ status: 0 }]])
  // The wait was the test's: nothing is said about the client.
  expect((await sandbox.conduct()).findings.filter(({ severity }) => severity !== 'note')).toEqual([])
})

test.for(ways)('%s: a gate opens by itself when enough wait, and counts from 0 again', async ([, client]) => {
  await using sandbox = await client().sandbox()
  await using gate = await sandbox.gates.hold(CREATE, { at: 'before-handler', release: { waiting: 2 } })
  for (let round = 0; round < 2; round++) {
    const first = page(sandbox)
    expect(await gate.waiting()).toHaveLength(1)
    expect((await Promise.all([first, page(sandbox)])).map(({ status }) => status)).toEqual([200, 200])
  }
})

test.for(ways)('%s: a gate opens after a virtual time, at which its requests run', async ([, client]) => {
  await using sandbox = await client().sandbox()
  await using gate = await sandbox.gates.hold(CREATE, { at: 'before-handler', release: { after: '2s' } })
  const [start, sent] = [Date.parse((await sandbox.clock.show()).now), page(sandbox)]
  const held = await gate.waiting()
  expect(await sandbox.clock.advance('1s')).toMatchObject({ events: [], held })
  const { events, held: none } = await sandbox.clock.advance('10s')
  expect([events.map(({ kind }) => kind), none]).toEqual([['gate.release'], undefined])
  expect((await sent).status).toBe(200)
  const [entry] = await sandbox.requests.list(CREATE)
  expect(Date.parse(entry?.at ?? '') - start).toBe(2_000)
})

test.for(ways)('%s: a webhook that waits at a gate is sent when it is released', async ([, client]) => {
  await using sandbox = await client().sandbox()
  await sandbox.webhooks.create({ inbox: true })
  const gate = await sandbox.gates.hold({ webhook: '*' }, { at: 'webhook' })
  await batch(sandbox, 'w')
  await sandbox.clock.advance('30d')
  const [held, ...others] = await gate.waiting()
  expect(held).toMatchObject({ at: 'webhook', name: expect.stringMatching(/^batch_prediction\.\w+ to /) })
  expect(await sandbox.webhooks.inbox()).toEqual([])
  const { now } = await sandbox.clock.show()
  await gate.release({ count: 1 })
  await sandbox.clock.advance('0s')
  const [delivery] = (await sandbox.webhooks.deliveries()).filter(({ id }) => id === held?.id)
  expect(delivery).toMatchObject({ status: 'delivered', attempts: [{ at: now }] })
  expect(await gate.abort()).toEqual(others)
  await batch(sandbox, 'again')
  await sandbox.clock.advance('30d')
  expect((await sandbox.webhooks.deliveries()).map(({ status }) => status)).toContain('waiting')
  await gate.remove()
  await sandbox.clock.advance('0s')
  expect(new Set((await sandbox.webhooks.deliveries()).map(({ status }) => status))).toEqual(
    new Set(others.length > 0 ? ['delivered', 'dropped'] : ['delivered']),
  )
})

test('1,000 requests wait, the next one passes and says so, and all are released', async () => {
  await using sandbox = await connect(emulator().url).sandbox()
  await using gate = await sandbox.gates.hold({ operation: 'teamspace-users.list' }, { at: 'before-handler' })
  const url = `${sandbox.baseUrl}/organization/teamspaces/teamspace-harbor/users`
  const client = viaHttp()
  const get = async () => (await client(url, { headers: bearer(String(sandbox.apiKey)) })).status
  const sent = Array.from({ length: 1_000 }, get)
  await gate.waiting(1_000, { timeoutMs: 60_000 })
  expect(await get()).toBeGreaterThan(0)
  const [entry] = await sandbox.requests.list({ operation: 'teamspace-users.list' })
  const explained = JSON.stringify(await sandbox.requests.explain(entry?.id ?? ''))
  expect(explained).toContain('It passed the gate gate, at which too many requests waited already.')
  expect(await gate.release()).toHaveLength(1_000)
  expect((await Promise.all(sent)).filter((status) => status === undefined)).toEqual([])
  expect(await sandbox.gates.list()).toMatchObject([{ held: [] }])
}, 120_000)

test.for(ways)('%s: an unmet wait and wrong names are refused with what waits', async ([, client]) => {
  await using sandbox = await client().sandbox()
  await using gate = await sandbox.gates.hold(CREATE, { at: 'before-handler' })
  const sent = page(sandbox)
  const [held] = await gate.waiting()
  const waits = `What waits there: POST /v1/pages (${held?.id}).`
  const unmet = { code: 'conflict', detail: `2 did not wait at the gate gate within 1 ms. ${waits}` }
  expect(await refusalOf(gate.waiting(2, { timeoutMs: 1 }))).toMatchObject(unmet)
  const unknown = { detail: `"nope" does not wait at the gate "gate". ${waits}` }
  expect(await refusalOf(gate.release({ requests: ['nope'] }))).toMatchObject(unknown)
  const at = (pointer: string) => ({ issues: [{ pointer }] })
  expect(await refusalOf(gate.release({ requests: ['a'], count: 1 }))).toMatchObject(at('/count'))
  const hold = (...args: Parameters<typeof sandbox.gates.hold>) => refusalOf(sandbox.gates.hold(...args))
  expect(await hold(CREATE, { at: 'webhook' })).toMatchObject(at('/do/0/gate/at'))
  expect(await hold({ webhook: '*' }, { at: 'after-handler' })).toMatchObject(at('/do/0/gate/at'))
  await gate.release()
  expect((await sent).status).toBe(200)
})
