import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { startEmulator } from '../../src/index.ts'
import { alive, dataFolder } from '../support/data-folder.ts'
import { type TestEmulator, type TestResponse, testEmulator } from '../support/emulator.ts'
import { arm } from '../support/state-faults.ts'

const [HOOK, FIXED, SIGNING] = ['hook-secret', 'fixed-secret', 'signing-secret']
const MASK = '(redacted)'
const at = '2026-01-01T00:00:00.000Z'

const webhooks = [
  { id: 'signed', url: 'http://127.0.0.1:9/a', secret: HOOK, created_at: at },
  { id: 'plain', url: 'http://127.0.0.1:9/b', created_at: at },
]
const settings = {
  'webhooks.signature': { header: 'X-Signature', secret: SIGNING },
  'webhooks.subscriptions': [{ url: 'http://127.0.0.1:9/c' }, { url: 'http://127.0.0.1:9/d', secret: FIXED }],
}

const guarded = () => testEmulator({ collections: { webhooks }, settings })

/** Asserts that a request is refused because of a mask, with a pointer and the fix, and changes nothing. */
async function refused(
  emulator: TestEmulator,
  request: () => Promise<TestResponse>,
  pointer: string,
): Promise<void> {
  const before = emulator.digest()
  const { status, body } = await request()
  expect(status).toBe(400)
  expect(body.details.errors).toEqual([
    {
      pointer,
      detail: expect.stringMatching(/mask .* give the secret itself, or export with \?secrets=true/),
    },
  ])
  expect(emulator.digest()).toBe(before)
}

const secretsOf = (text: string) => [HOOK, FIXED, SIGNING].filter((secret) => text.includes(secret))

test('responses with state mask the secrets that sign webhooks, except with secrets=true', async () => {
  const emulator = await guarded()
  await emulator.control('POST', '/snapshots', { name: 'base' })
  const all = [HOOK, FIXED, SIGNING]
  for (const [path, shown] of [
    ['/state', all],
    ['/snapshots/base', all],
    ['/state/webhooks', [HOOK]],
    ['/state/webhooks/signed', [HOOK]],
  ] as const) {
    for (const query of ['', '?secrets=false'])
      expect([path, secretsOf((await emulator.control('GET', path + query)).text)]).toEqual([path, []])
    const asked = await emulator.control('GET', `${path}?secrets=true`)
    expect([path, secretsOf(asked.text)]).toEqual([path, shown])
    expect((await emulator.control('GET', `${path}?secrets=yes`)).body.details.errors).toEqual([
      { pointer: '/query/secrets', detail: 'must be true or false' },
    ])
  }
  const { body } = await emulator.control('GET', '/state')
  expect(body.collections.webhooks.map(({ secret }: { secret: unknown }) => secret)).toEqual([MASK, null])
  expect(body.settings['webhooks.subscriptions']).toEqual([
    { url: 'http://127.0.0.1:9/c' },
    { url: 'http://127.0.0.1:9/d', secret: MASK },
  ])
  const whole = await emulator.control('GET', '/state?secrets=true')
  expect(whole.body).toEqual(JSON.parse(JSON.stringify(emulator.sandbox.document())))
})

test('a PUT of a masked state keeps the stored secrets, with any other changes', async () => {
  const emulator = await guarded()
  const { body } = await emulator.control('GET', '/state')
  const [signed, plain] = body.collections.webhooks
  body.collections.webhooks = [plain, { ...signed, url: 'http://127.0.0.1:9/moved' }]
  body.settings['webhooks.signature'].header = 'X-Other'
  body.settings['webhooks.subscriptions'].reverse()
  expect((await emulator.control('PUT', '/state', body)).status).toBe(200)
  const { collections, settings: kept } = emulator.sandbox.document()
  expect(collections.webhooks).toMatchObject([
    { id: 'plain', secret: null },
    { id: 'signed', url: 'http://127.0.0.1:9/moved', secret: HOOK },
  ])
  expect(kept).toEqual({
    'webhooks.signature': { header: 'X-Other', secret: SIGNING },
    'webhooks.subscriptions': [
      { url: 'http://127.0.0.1:9/d', secret: FIXED },
      { url: 'http://127.0.0.1:9/c' },
    ],
  })
})

test('a masked state is refused if the sandbox has no stored secret for a mask', async () => {
  const { body } = await (await guarded()).control('GET', '/state')
  const emulator = await testEmulator()
  const put = (document: object) => () => emulator.control('PUT', '/state', document)
  const none = { ...body, settings: {} }
  await refused(emulator, put(none), '/collections/webhooks/0/secret')
  const unsigned = { ...body.collections, webhooks: [] }
  const { 'webhooks.signature': signature, 'webhooks.subscriptions': subscriptions } = body.settings
  const under = (values: object) => put({ ...body, collections: unsigned, settings: values })
  const signed = under({ 'webhooks.signature': signature })
  await refused(emulator, signed, '/settings/webhooks.signature/secret')
  const subscribed = under({ 'webhooks.subscriptions': subscriptions })
  await refused(emulator, subscribed, '/settings/webhooks.subscriptions/1/secret')
})

test('a write of a masked record keeps its secret; another secret replaces it; null removes it', async () => {
  const emulator = await guarded()
  const stored = () => emulator.state('webhooks').find(({ id }) => id === 'signed').secret
  const { body: shown } = await emulator.control('GET', '/state/webhooks/signed')
  const put = await emulator.control('PUT', '/state/webhooks/signed', { ...shown, events: null })
  expect([put.status, put.body.secret, stored()]).toEqual([200, MASK, HOOK])
  const patch = (changes: object) => emulator.control('PATCH', '/state/webhooks/signed', changes)
  expect([(await patch({ secret: MASK })).body.secret, stored()]).toEqual([MASK, HOOK])
  expect([(await patch({ url: 'http://127.0.0.1:9/x' })).body.secret, stored()]).toEqual([MASK, HOOK])
  expect([(await patch({ secret: 'other' })).body.secret, stored()]).toEqual([MASK, 'other'])
  expect([(await patch({ secret: null })).body.secret, stored()]).toEqual([null, null])
  await refused(emulator, () => patch({ secret: MASK }), '/secret')
  const fresh = { url: 'http://127.0.0.1:9/e', secret: MASK, created_at: at }
  await refused(emulator, () => emulator.control('PUT', '/state/webhooks/new', fresh), '/secret')
  await refused(
    emulator,
    () => emulator.control('POST', '/webhooks', { url: fresh.url, secret: MASK }),
    '/secret',
  )
})

test('masked records of a fixtures document keep the secrets of the records that they replace', async () => {
  const emulator = await guarded()
  const { body } = await emulator.control('GET', '/state')
  const merge = (records: readonly object[]) =>
    emulator.control('POST', '/fixtures', { collections: { webhooks: records } })
  expect((await merge(body.collections.webhooks)).status).toBe(200)
  expect(emulator.state('webhooks').map(({ secret }) => secret)).toEqual([HOOK, null])
  const unknown = { ...body.collections.webhooks[0], id: 'unknown' }
  await refused(emulator, () => merge([unknown]), '/collections/webhooks/0/secret')
})

test('masked settings keep the stored secrets, of a subscription by its url', async () => {
  const emulator = await guarded()
  const change = (changes: object) => emulator.control('PATCH', '/settings', changes)
  const { overrides } = (await emulator.control('GET', '/settings')).body
  const signature = { ...overrides['webhooks.signature'], header: 'X-Other' }
  const response = await change({ ...overrides, 'webhooks.signature': signature })
  expect([response.status, secretsOf(response.text)]).toEqual([200, []])
  expect(emulator.sandbox.settings.overrides).toEqual({
    ...settings,
    'webhooks.signature': { header: 'X-Other', secret: SIGNING },
  })
  const moved = [{ url: 'http://127.0.0.1:9/z', secret: MASK }]
  await refused(
    emulator,
    () => change({ 'webhooks.subscriptions': moved }),
    '/webhooks.subscriptions/0/secret',
  )
})

test('an imported snapshot keeps the secrets of the one that it replaces, else of the sandbox, else it is refused', async () => {
  const emulator = await guarded()
  await emulator.control('POST', '/snapshots', { name: 'base' })
  const { body: masked } = await emulator.control('GET', '/snapshots/base')
  await emulator.control('PATCH', '/state/webhooks/signed', { secret: 'newer' })
  const imported = async (name: string) => {
    expect((await emulator.control('PUT', `/snapshots/${name}`, masked)).status).toBeLessThan(202)
    const { body } = await emulator.control('GET', `/snapshots/${name}?secrets=true`)
    return body.collections.webhooks[0].secret
  }
  expect(await imported('base')).toBe(HOOK)
  expect(await imported('other')).toBe('newer')
  await emulator.control('DELETE', '/state/webhooks/signed')
  await refused(
    emulator,
    () => emulator.control('PUT', '/snapshots/third', masked),
    '/collections/webhooks/0/secret',
  )
})

test('the explanation of a request masks the secret of a webhook that a fault inserted', async () => {
  const emulator = await testEmulator()
  const insert_rows = { collection: 'webhooks', records: [{ ...webhooks[0], id: 'inserted' }] }
  await arm(emulator, { match: { operation: 'data-views.list' }, do: [{ state: { insert_rows } }] })
  const id = (await emulator.get('/data-views')).headers.get('x-emulator-request-id')
  const { body } = await emulator.control('GET', `/explain/${id}`)
  expect(body.changes).toMatchObject([{ ref: 'webhooks/inserted', patch: [{ value: { secret: MASK } }] }])
})

test('the library shows secrets with the option secrets: true', async () => {
  const emulator = await startEmulator({
    port: 0,
    ephemeral: true,
    settings,
    fixtures: { collections: { webhooks } },
  })
  onTestFinished(() => emulator.close())
  const { state, snapshots } = await emulator.sandbox('w1')
  await snapshots.save('base')
  const views = async (options?: { secrets: boolean }) => [
    await state.document(options),
    await state.list('webhooks', options),
    await state.get('webhooks', 'signed', options),
    await snapshots.export('base', options),
  ]
  const seen = async (options?: { secrets: boolean }) =>
    (await views(options)).map((view) => secretsOf(JSON.stringify(view)).length)
  expect([await seen(), await seen({ secrets: false })]).toEqual([
    [0, 0, 0, 0],
    [0, 0, 0, 0],
  ])
  expect(await seen({ secrets: true })).toEqual([3, 1, 1, 3])
})

test('the state file has the secrets unmasked, and a restart keeps them', async () => {
  const data = dataFolder()
  const options = { settings, fixtures: { collections: { webhooks } } } as never
  const first = await alive(data, options)
  await first.control('PATCH', '/state/webhooks/plain', { secret: 'plain-secret' })
  await first.emulator.close()
  const text = readFileSync(join(data, 'default.json'), 'utf8')
  expect([secretsOf(text), text.includes('plain-secret')]).toEqual([[HOOK, FIXED, SIGNING], true])
  const second = await alive(data)
  const { collections } = second.emulator.sandbox.document()
  expect(collections.webhooks).toMatchObject([{ secret: HOOK }, { secret: 'plain-secret' }])
})
