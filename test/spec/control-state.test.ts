import { expect, test } from 'vitest'
import { controlEmulator } from '../support/control-emulator.ts'

const JANUARY = '2026-01-01T00:00:00.000Z'
const aShelf = (id: string, more = {}) => ({ id, name: 'New', note: null, created_at: JANUARY, ...more })

test('the state is one document, secrets as digests', async () => {
  const emulator = await controlEmulator()
  const { body, text } = await emulator.call('GET', '/state')
  expect(Object.keys(body).slice(0, 4)).toEqual(['format', 'revision', 'sandbox', 'seed'])
  expect(body.collections.books).toMatchObject([{ id: 'b1', title: 'Odes' }])
  expect(body.collections.api_keys[0].token).toMatch(/^sha256:[0-9a-f]{64}$/)
  expect(text).not.toMatch(/live_a|service_b|opensesame/)
})

test('PUT of a saved document restores the same sandbox; a wrong document is refused as a whole with every issue', async () => {
  const emulator = await controlEmulator()
  const saved = (await emulator.call('GET', '/state')).body
  await emulator.call('DELETE', '/state/books/b1')
  const loaded = await emulator.call('PUT', '/state', saved)
  expect(loaded.body).toMatchObject({ seed: 1, now: '2026-03-01T12:00:00.000Z', records: { shelves: 2 } })
  expect((await emulator.call('GET', '/state')).body).toEqual({ ...saved, revision: loaded.body.revision })

  const before = emulator.digest()
  const wrong = { ...saved, settings: { 'shelves.name_bund': 3 }, shedule: [] }
  const { status, body } = await emulator.call('PUT', '/state', wrong)
  const issues = [{ pointer: '/shedule' }, { pointer: '/settings/shelves.name_bund' }]
  expect([status, body.details.errors]).toMatchObject([400, issues])
  expect(emulator.digest()).toBe(before)
})

test('a collection lists its records and a record is shown; what does not exist is a 404, with the nearest name', async () => {
  const emulator = await controlEmulator()
  const { body } = await emulator.call('GET', '/state/shelves')
  expect(body).toMatchObject({ object: 'list', data: [{ id: 's1' }, { id: 's2' }] })
  expect((await emulator.call('GET', '/state/shelves/s1')).body).toEqual(body.data[0])
  const unknown = await emulator.call('GET', '/state/shelfs')
  expect([unknown.status, unknown.body.error]).toEqual([404, 'not_found'])
  expect(unknown.body.message).toContain('Did you mean "shelves"?')
  for (const path of ['__proto__', 'shelves/nothing', 'shelves/__proto__', 'shelves/%2F'])
    expect([path, (await emulator.call('GET', `/state/${path}`)).status]).toEqual([path, 404])
})

test('PUT writes a whole record: 201 if it is new, 200 if it replaces one', { tags: ['R284'] }, async () => {
  const emulator = await controlEmulator()
  const made = await emulator.call('PUT', '/state/shelves/s3', aShelf('s3'))
  expect([made.status, made.body]).toEqual([201, aShelf('s3', { status: 'open' })])
  // The longest name, in code points.
  const name = '😀'.repeat(20)
  const replaced = await emulator.call('PUT', '/state/shelves/s3', { name, note: 'x', created_at: JANUARY })
  expect([replaced.status, replaced.body.name]).toEqual([200, name])
  expect((await emulator.call('GET', '/state/shelves/s3')).body).toEqual(replaced.body)
})

test('deleting a record that others refer to is refused', async () => {
  const emulator = await controlEmulator()
  const before = emulator.digest()
  const needed = await emulator.call('DELETE', '/state/shelves/s1')
  expect([needed.status, needed.body.error]).toEqual([409, 'conflict'])
  expect(needed.body.details).toEqual({ needed_by: ['books/b1'] })
  expect(needed.body.mitigation).toContain('first')
  expect(emulator.digest()).toBe(before)
})

test('the refusal of a change that would break another record names that record', async () => {
  const emulator = await controlEmulator()
  const { body } = await emulator.call('PATCH', '/state/shelves/s1', { name: 'sealed' })
  const detail = 'would make books/b1 invalid (/shelf_id: is a sealed shelf)'
  expect(body.details.errors).toEqual([{ pointer: '', detail }])
  expect((await emulator.call('PATCH', '/state/shelves/s2', { name: 'sealed' })).status).toBe(200)
})

test('a record that was broken before does not prevent other changes', async () => {
  const emulator = await controlEmulator()
  expect(emulator.perform('books.create', { shelf_id: 'nowhere' }, { title: 'Stray' })).toBe(201)
  expect((await emulator.call('PATCH', '/state/shelves/s2', { name: 'Atlas' })).status).toBe(200)
  const remove = async () => (await emulator.call('DELETE', '/state/shelves/s2')).status
  expect([await remove(), await remove()]).toEqual([204, 404])
})

test('If-Match writes only if the record is unchanged since it was read; a 412 changes nothing', async () => {
  const emulator = await controlEmulator()
  const write = (method: string, tag: string, id = 's2') => {
    const body = { PUT: aShelf(id), PATCH: { name: 'Atlas' } }[method]
    return emulator.call(method, `/state/shelves/${id}`, body, { headers: { 'If-Match': tag } })
  }
  const tagNow = async () => String((await emulator.call('GET', '/state/shelves/s2')).headers.etag)
  const old = await tagNow()
  expect([old, await tagNow()]).toEqual([expect.stringMatching(/^"[\w-]{22}"$/), old])
  expect((await write('PATCH', old)).status).toBe(200)
  const tag = await tagNow()
  expect(tag).not.toBe(old)
  const before = emulator.digest()
  for (const method of ['PUT', 'PATCH', 'DELETE']) {
    const refused = await write(method, old)
    expect([refused.status, refused.body.error]).toEqual([412, 'precondition_failed'])
    expect(refused.body.message).toContain('shelves/s2 does not have the ETag of If-Match any more')
    expect(refused.body.mitigation).toContain('GET /__emulator/state/shelves/s2')
    expect((await write(method, `W/${tag}`)).status).toBe(412)
  }
  const missing = await write('PUT', '*', 's9')
  expect([missing.status, missing.body.message]).toEqual([412, expect.stringContaining('There is no record')])
  expect(missing.body.mitigation).toContain('without If-Match to create')
  expect(emulator.digest()).toBe(before)
  expect((await write('PUT', `${old}, ${tag}`)).status).toBe(200)
  expect((await write('PATCH', '*')).status).toBe(200)
  expect((await write('DELETE', await tagNow())).status).toBe(204)
})

test('the first of several writers with the same ETag succeeds, and all others are refused', async () => {
  const emulator = await controlEmulator()
  const path = '/state/shelves/s2'
  const headers = { 'If-Match': String((await emulator.call('GET', path)).headers.etag) }
  const names = Array.from({ length: 20 }, (_, n) => `Shelf ${n}`)
  const written = await Promise.all(names.map((name) => emulator.call('PATCH', path, { name }, { headers })))
  const [first, ...others] = written.toSorted((a, b) => a.status - b.status)
  expect([first?.status, ...others.map(({ status }) => status)]).toEqual([200, ...Array(19).fill(412)])
  expect((await emulator.call('GET', path)).body).toEqual(first?.body)
})

test('PATCH merges, and the result is validated like a whole record', async () => {
  const emulator = await controlEmulator()
  const response = await emulator.call('PATCH', '/state/shelves/s2', { name: 'Atlas' })
  expect(response.body).toMatchObject({ id: 's2', name: 'Atlas', note: 'dusty' })
  expect((await emulator.call('PATCH', '/state/books/b1', { lock: null })).body.lock).toBeUndefined()
  const nulled = await emulator.call('PATCH', '/state/shelves/s2', { note: null })
  const detail = 'is required; null in a merge patch removes it, so write a null with PUT'
  expect(nulled.body.details.errors).toEqual([{ pointer: '/note', detail }])
  expect((await emulator.call('PATCH', '/state/shelves/s9', { name: 'x' })).status).toBe(404)
})

test('a secret is sealed when it is written, and a sealed one stays unchanged', async () => {
  const emulator = await controlEmulator()
  const key = (await emulator.call('GET', '/state/api_keys/k1')).body
  const written = await emulator.call('PATCH', '/state/api_keys/k1', { token: 'live_new' })
  expect(written.body.token).toMatch(/^sha256:/)
  expect(written.text).not.toContain('live_new')
  expect(emulator.perform('books.list', {}, undefined, 'live_new')).toBe(200)
  expect(emulator.perform('books.list', {}, undefined, 'live_a')).toBe(401)
  await emulator.call('PUT', '/state/api_keys/k1', key)
  expect(emulator.perform('books.list', {}, undefined, 'live_a')).toBe(200)
})

test('interventions of a resource are routes, in one transaction, and due events run at once', async () => {
  const emulator = await controlEmulator()
  expect((await emulator.call('GET', '/shelves/s1')).body).toMatchObject({ id: 's1' })
  expect((await emulator.call('GET', '/state/summary')).body).toEqual({ shelves: 2 })
  expect((await emulator.call('POST', '/shelves/s9/close', { after: '1h' })).status).toBe(404)
  const done = await emulator.call('POST', '/shelves/s1/close', { after: '0s' })
  expect(done.body).toEqual({ id: 's1', due: '2026-03-01T12:00:00.000Z' })
  expect(emulator.sandbox.store.get('shelves', 's1')).toMatchObject({ status: 'closed' })
})

test('a collection shows the schema of its records under the settings in force', async () => {
  const emulator = await controlEmulator()
  const { body } = await emulator.call('GET', '/collections/books')
  expect(body).toMatchObject({ name: 'books', schema: { type: 'object' } })
  expect(body.schema.required).toContain('title')
  expect((await emulator.call('GET', '/collections/bookz')).status).toBe(404)
})
