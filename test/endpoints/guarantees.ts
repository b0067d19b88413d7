import { cpSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { defineEndpoint } from '../../src/endpoints/define.ts'
import { type RequestOptions, type TestResponse, testEmulator } from '../support/emulator.ts'
import { folderWith } from '../support/endpoint-folder.ts'
import { type TransportName, useTransport } from '../support/transport.ts'

/** Operations of one kind: built-in ones, or the same as a user defines them. */
interface Subject {
  /** The path of the list and of creation. */
  readonly path: string
  readonly collection: string
  /** The first part of the names of its operations. */
  readonly name: string
}

const builtIn: Subject = { path: '/agents/a1/automations', collection: 'automations', name: 'automations' }
const own: Subject = { path: '/rooms/a1/notes', collection: 'notes', name: 'rooms.notes' }

const path = '/rooms/{room_id}/notes'
const one = `${path}/{id}`
const endpoints = [
  defineEndpoint({
    method: 'GET',
    path,
    handle: ({ records, list, caller }) => ({ body: list(records('notes').visibleTo(caller).toReversed()) }),
  }),
  defineEndpoint({
    method: 'POST',
    path,
    body: { type: 'object' },
    handle({ body, records, caller }) {
      const _emulator = { teamspace_id: caller.teamspace_id }
      return { body: records('notes').insert({ ...(body as object), _emulator }) }
    },
  }),
  defineEndpoint({
    method: 'GET',
    path: one,
    handle({ records, params, caller, refuse }) {
      const found = records('notes').visibleTo(caller)
      const note = found.find(({ id }) => id === params.id)
      return { body: note ?? refuse(404, 'not_found', `There is no note with the id "${params.id}".`) }
    },
  }),
  defineEndpoint({
    method: 'PATCH',
    path: one,
    body: { type: 'object' },
    handle: ({ records, params, body }) => ({
      body: records('notes').update(params.id ?? '', body as object),
    }),
  }),
]

type Made = Awaited<ReturnType<typeof made>>

async function made(subject: Subject, data = folderWith({})) {
  const agents = [{ id: 'a1', _emulator: { teamspace_id: 'ts-a' } }]
  const emulator = await testEmulator({ endpoints, ephemeral: false, data, collections: { agents } })
  return {
    emulator,
    subject,
    data,
    list: (options?: RequestOptions) => emulator.get(subject.path, options),
    create: async (text = 'x') =>
      (await emulator.post(subject.path, { text })).body as { readonly id: string },
  }
}

type Asked = readonly [title: string, status: number, method: string, path: string, options?: RequestOptions]

const ORIGIN = { origin: 'http://localhost:3000' }
const PREFLIGHT = { ...ORIGIN, 'access-control-request-method': 'POST' }

/** Requests, each with its status; `path` follows that of the list. */
const REQUESTS: readonly Asked[] = [
  ['a list', 200, 'GET', ''],
  ['a list without a key', 401, 'GET', '', { key: 'none' }],
  ['a list with an unknown key', 401, 'GET', '', { token: 'live_nobody' }],
  ['a list for a service key', 200, 'GET', '', { key: 'KS' }],
  ['a list for a page of this machine', 200, 'GET', '', { headers: ORIGIN }],
  ['the head of a list', 200, 'HEAD', ''],
  ['a creation', 200, 'POST', '', { json: { text: 'a' } }],
  ['malformed JSON', 400, 'POST', '', { raw: '{' }],
  ['a body of another type', 415, 'POST', '', { raw: 'x', type: 'text/plain' }],
  ['a body that is too large', 413, 'POST', '', { raw: 'x'.repeat(1_100_000) }],
  ['a record', 200, 'GET', '/{id}'],
  ['a record of another teamspace', 404, 'GET', '/{id}', { key: 'K2' }],
  ['a missing record', 404, 'GET', '/none'],
  ['a change', 200, 'PATCH', '/{id}', { json: { text: 'b' } }],
  ['another method', 405, 'PUT', ''],
  ['a misspelt path', 404, 'GET', 'x'],
  ['a preflight', 204, 'OPTIONS', '', { key: 'none', headers: PREFLIGHT }],
]

const HEADERS =
  /^(content-type|date|allow|www-authenticate|retry-after|vary|x-ratelimit-.*|x-emulator-.*|access-control-.*)$/

/** What has to be the same for a built-in operation and one of the user: the whole body of a success, the form of an error. */
function viewOf({ status, headers, text, body, assumed }: TestResponse) {
  const kept = [...headers].filter(([name]) => HEADERS.test(name) && name !== 'x-emulator-assumed')
  if (status < 300) return { status, kept, assumed, said: text.replaceAll(/[0-9a-f]{24}/g, 'ID') }
  return { status, kept, said: [Object.keys(body), body.error, body.retryable] }
}

const last = async ({ emulator }: Made) => (await emulator.control('GET', '/requests?limit=1')).body.data[0]

type Guarantee = readonly [title: string, observe: (made: Made) => Promise<unknown>, expected: unknown]

/** What holds over several requests. */
const COURSES: readonly Guarantee[] = [
  [
    'a denied operation is refused',
    async ({ emulator, subject, list }) => {
      await emulator.control('PATCH', '/state/api_keys/key-member', { denied: [`${subject.name}.list`] })
      return (await list({ key: 'KM' })).status
    },
    403,
  ],
  [
    'records are changed, created by a request that is sent again, restored, and removed by a reset',
    async (made) => {
      const { emulator, subject, create, list } = made
      const texts = async () => (await list()).body.data.map(({ text }: { text: string }) => text)
      const { id } = await create('a')
      await emulator.patch(`${subject.path}/${id}`, { text: 'b' })
      await emulator.control('POST', '/snapshots', { name: 's' })
      await create('c')
      await emulator.control('POST', `/requests/${(await last(made)).id}/resend`)
      const seen = [await texts()]
      await emulator.control('POST', '/snapshots/s/restore')
      seen.push(await texts())
      await emulator.control('POST', '/reset')
      return [...seen, emulator.state(subject.collection)]
    },
    [['c', 'c', 'b'], ['b'], []],
  ],
  [
    'a limit refuses that operation only, with Retry-After, until the clock has moved',
    async ({ emulator, subject, list }) => {
      await emulator.control('PUT', `/limits/${subject.name}.list`, { limit: 1, window_s: 30 })
      await list()
      const { status, headers, body } = await list()
      const other = await emulator.post(subject.path, {})
      emulator.advance('30s')
      return [status, headers.get('retry-after'), body.error, other.status, (await list()).status]
    },
    [429, '30', 'rate_limit_exceeded', 200, 200],
  ],
  [
    'a fault by name fires on that operation only, as often as it says, before the handler or after it',
    async ({ emulator, subject, list }) => {
      const match = { operation: `${subject.name}.create` }
      const statuses = [(await list()).status]
      for (const respond of [{ status: 503 }, { status: 500, effects: 'apply' }]) {
        await emulator.control('POST', '/faults', { match, times: 1, do: [{ respond }] })
        statuses.push((await emulator.post(subject.path, {})).status)
      }
      statuses.push((await emulator.post(subject.path, {})).status)
      return [...statuses, emulator.state(subject.collection).length]
    },
    [200, 503, 500, 200, 2],
  ],
  [
    'faults by path change the body and the head',
    async ({ emulator, subject, list }) => {
      const match = { path: `*${subject.path}` }
      const actions = [{ body: { patch: { object: null, extra: 1 } } }, { head: { set: { 'x-odd': 'yes' } } }]
      for (const action of actions)
        await emulator.control('POST', '/faults', { match, do: [action], then: 'continue' })
      const { body, headers } = await list()
      return [body, headers.get('x-odd')]
    },
    [{ data: [], extra: 1, has_more: false }, 'yes'],
  ],
  [
    'each sandbox has records of its own',
    async ({ create, list }) => {
      await create('a')
      const { text } = await list({ headers: { 'x-emulator-sandbox': 'w2' } })
      return text.includes('"text":"a"')
    },
    false,
  ],
  [
    'the operation is in the list of operations',
    async ({ emulator, subject }) => {
      const { data } = (await emulator.control('GET', '/operations')).body
      return data.some(({ name }: { name: string }) => name === `${subject.name}.list`)
    },
    true,
  ],
  [
    'what was written outlives kill -9',
    async ({ data, subject, create }) => {
      const { id } = await create('a')
      const copy = folderWith({})
      cpSync(data, copy, { recursive: true })
      for (const file of readdirSync(copy))
        if (file.includes('lock')) rmSync(join(copy, file), { recursive: true })
      const after = await made(subject, copy)
      return (await after.emulator.get(`${subject.path}/${id}`)).body.text
    },
    'a',
  ],
]

export function testGuarantees(transports: readonly TransportName[]): void {
  const over = <T>(cases: readonly T[]) =>
    transports.flatMap((transport) => cases.map((each) => [transport, each] as const))
  const timeout = 30_000

  test.for(over(REQUESTS).map(([transport, [title, ...asked]]) => ({ transport, title, asked })))(
    'over $transport, a built-in operation and one of the user respond alike: $title',
    { timeout },
    async ({ transport, asked: [status, method, path, options] }) => {
      onTestFinished(useTransport(transport))
      const responseOf = async (subject: Subject) => {
        const { emulator, create } = await made(subject)
        const { id } = await create('a')
        return emulator.request(method, subject.path + path.replace('{id}', id), options)
      }
      const expected = await responseOf(builtIn)
      expect(expected.status).toBe(status)
      expect(viewOf(await responseOf(own))).toEqual(viewOf(expected))
    },
  )

  test.for(over(COURSES).map(([transport, [title, ...course]]) => ({ transport, title, course })))(
    'over $transport, of a built-in operation and of one of the user: $title',
    { timeout },
    async ({ transport, course: [observe, expected] }) => {
      onTestFinished(useTransport(transport))
      for (const subject of [builtIn, own]) expect(await observe(await made(subject))).toEqual(expected)
    },
  )
}
