import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect } from 'agent-workspace-emulator'
import { expect, test } from 'vitest'
import { alive, dataFolder } from '../support/data-folder.ts'
import { type TestEmulator, testEmulator } from '../support/emulator.ts'
import { arm } from '../support/state-faults.ts'

const [HOOK, FIXED, SIGNING] = ['hook-secret', 'fixed-secret', 'signing-secret']
const MASK = '(redacted)'
const at = '2026-01-01T00:00:00.000Z'
const urlOf = (path: string) => `http://127.0.0.1:9/${path}`

const webhooks = [
  { id: 'signed', url: urlOf('a'), secret: HOOK, created_at: at },
  { id: 'plain', url: urlOf('b'), created_at: at },
]
const settings = {
  'webhooks.signature': { header: 'X-Signature', secret: SIGNING },
  'webhooks.subscriptions': [{ url: urlOf('c') }, { url: urlOf('d'), secret: FIXED }],
}

const guarded = () => testEmulator({ collections: { webhooks }, settings })

type Request = readonly [method: string, path: string, json: object]

/** Asserts that a request is refused because of a mask, with a pointer and the fix, and changes nothing. */
async function refused({ control, digest }: TestEmulator, request: Request, pointer: string) {
  const before = digest()
  const { status, body } = await control(...request)
  const detail = expect.stringMatching(/mask .* give the secret itself, or export with \?secrets=true/)
  expect([status, body.details.errors, digest()]).toEqual([400, [{ pointer, detail }], before])
}

const secretsOf = (text: string) => [HOOK, FIXED, SIGNING].filter((secret) => text.includes(secret))

test.for([
  ['/state', [HOOK, FIXED, SIGNING]],
  ['/snapshots/base', [HOOK, FIXED, SIGNING]],
  ['/state/webhooks', [HOOK]],
  ['/state/webhooks/signed', [HOOK]],
] as const)('GET %s masks the secrets of webhooks, except with secrets=true', async ([path, secrets]) => {
  const { control } = await guarded()
  await control('POST', '/snapshots', { name: 'base' })
  for (const query of ['', '?secrets=false'])
    expect(secretsOf((await control('GET', path + query)).text)).toEqual([])
  expect(secretsOf((await control('GET', `${path}?secrets=true`)).text)).toEqual(secrets)
  const wrong = { pointer: '/query/secrets', detail: 'must be true or false' }
  expect((await control('GET', `${path}?secrets=yes`)).body.details.errors).toEqual([wrong])
})

test('a PUT of a masked state keeps the stored secrets, with any other changes', async () => {
  const { control, sandbox } = await guarded()
  const { body } = await control('GET', '/state')
  body.collections.webhooks.reverse()
  body.settings['webhooks.signature'].header = 'X-Other'
  expect((await control('PUT', '/state', body)).status).toBe(200)
  const { collections, settings: kept } = sandbox.document()
  expect(collections.webhooks).toMatchObject([{ secret: null }, { id: 'signed', secret: HOOK }])
  expect(kept).toEqual({ ...settings, 'webhooks.signature': { header: 'X-Other', secret: SIGNING } })
})

test('a masked state is refused if the sandbox has no stored secret for a mask', async () => {
  const { body } = await (await guarded()).control('GET', '/state')
  const emulator = await testEmulator()
  const none = { ...body, settings: {} }
  await refused(emulator, ['PUT', '/state', none], '/collections/webhooks/0/secret')
  const collections = { ...body.collections, webhooks: [] }
  const { 'webhooks.subscriptions': _, ...signature } = body.settings
  const only = { ...body, collections, settings: signature }
  await refused(emulator, ['PUT', '/state', only], '/settings/webhooks.signature/secret')
})

test('a write of a masked record keeps its secret; another secret replaces it; null removes it', async () => {
  const emulator = await guarded()
  const { control, state } = emulator
  const path = '/state/webhooks/signed'
  /** The status, and the shown and the stored secret. */
  const written = async (method: string, changes: object) => {
    const { status, body } = await control(method, path, changes)
    return [status, body.secret, state('webhooks').find(({ id }) => id === 'signed').secret]
  }
  const { body: shown } = await control('GET', path)
  expect(await written('PUT', { ...shown, events: null })).toEqual([200, MASK, HOOK])
  expect(await written('PATCH', { secret: MASK })).toEqual([200, MASK, HOOK])
  expect(await written('PATCH', { url: urlOf('x') })).toEqual([200, MASK, HOOK])
  expect(await written('PATCH', { secret: 'other' })).toEqual([200, MASK, 'other'])
  expect(await written('PATCH', { secret: null })).toEqual([200, null, null])
  await refused(emulator, ['PATCH', path, { secret: MASK }], '/secret')
  const fresh = { url: urlOf('e'), secret: MASK }
  await refused(emulator, ['PUT', '/state/webhooks/new', { ...fresh, created_at: at }], '/secret')
  await refused(emulator, ['POST', '/webhooks', fresh], '/secret')
})

test('masked records of a fixtures document keep the secrets of the records that they replace', async () => {
  const emulator = await guarded()
  const { body } = await emulator.control('GET', '/state')
  const { webhooks: masked } = body.collections
  const merged = await emulator.control('POST', '/fixtures', { collections: { webhooks: masked } })
  expect(merged.status).toBe(200)
  expect(emulator.state('webhooks').map(({ secret }) => secret)).toEqual([HOOK, null])
  const unknown = { collections: { webhooks: [{ ...masked[0], id: 'unknown' }] } }
  await refused(emulator, ['POST', '/fixtures', unknown], '/collections/webhooks/0/secret')
})

test('masked settings keep the stored secrets, of a subscription by its url', async () => {
  const emulator = await guarded()
  const { overrides } = (await emulator.control('GET', '/settings')).body
  overrides['webhooks.signature'].header = 'X-Other'
  const response = await emulator.control('PATCH', '/settings', overrides)
  expect([response.status, secretsOf(response.text)]).toEqual([200, []])
  const signature = { header: 'X-Other', secret: SIGNING }
  expect(emulator.sandbox.settings.overrides).toEqual({ ...settings, 'webhooks.signature': signature })
  const moved = { 'webhooks.subscriptions': [{ url: urlOf('z'), secret: MASK }] }
  await refused(emulator, ['PATCH', '/settings', moved], '/webhooks.subscriptions/0/secret')
})

test('an imported snapshot keeps the secrets of the one that it replaces, else of the sandbox, else it is refused', async () => {
  const emulator = await guarded()
  const { control } = emulator
  await control('POST', '/snapshots', { name: 'base' })
  const { body: masked } = await control('GET', '/snapshots/base')
  await control('PATCH', '/state/webhooks/signed', { secret: 'newer' })
  const imported = async (name: string) => {
    await control('PUT', `/snapshots/${name}`, masked)
    return (await control('GET', `/snapshots/${name}?secrets=true`)).body.collections.webhooks[0].secret
  }
  expect([await imported('base'), await imported('other')]).toEqual([HOOK, 'newer'])
  await control('DELETE', '/state/webhooks/signed')
  await refused(emulator, ['PUT', '/snapshots/third', masked], '/collections/webhooks/0/secret')
})

test('the explanation of a request masks the secret of a webhook that a fault inserted', async () => {
  const emulator = await testEmulator()
  const insert_rows = { collection: 'webhooks', records: [{ ...webhooks[0], id: 'inserted' }] }
  await arm(emulator, { match: { operation: 'data-views.list' }, do: [{ state: { insert_rows } }] })
  const id = (await emulator.get('/data-views')).headers.get('x-emulator-request-id')
  const { body } = await emulator.control('GET', `/explain/${id}`)
  expect(body.changes).toMatchObject([{ ref: 'webhooks/inserted', patch: [{ value: { secret: MASK } }] }])
})

test('the library shows the secret of a record with the option secrets: true', async () => {
  const { emulator } = await guarded()
  const { state } = connect(emulator.url).defaultSandbox
  expect(await state.get('webhooks', 'signed', { secrets: true })).toMatchObject({ secret: HOOK })
})

test('the state file has the secrets unmasked, and a restart keeps them', async () => {
  const data = dataFolder()
  const first = await alive(data, { settings, fixtures: { collections: { webhooks } } } as never)
  await first.control('PATCH', '/state/webhooks/plain', { secret: 'plain-secret' })
  await first.emulator.close()
  const text = readFileSync(join(data, 'default.json'), 'utf8')
  expect([secretsOf(text), text.includes('plain-secret')]).toEqual([[HOOK, FIXED, SIGNING], true])
  const { collections } = (await alive(data)).emulator.sandbox.document()
  expect(collections.webhooks).toMatchObject([{ secret: HOOK }, { secret: 'plain-secret' }])
})
