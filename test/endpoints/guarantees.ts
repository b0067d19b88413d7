import { cpSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { defineEndpoint } from '../../src/endpoints/define.ts'
import { type TestEmulator, testEmulator } from '../support/emulator.ts'
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

const builtIn: Subject = {
  path: '/agents/a1/automations',
  collection: 'automations',
  name: 'automations',
}

const own: Subject = {
  path: '/rooms/a1/notes',
  collection: 'notes',
  name: 'rooms.notes',
}

const path = '/rooms/{room_id}/notes'
const gone = (id = '') => `There is no note with the id "${id}".`
const endpoints = [
  defineEndpoint({
    method: 'POST',
    path,
    body: { type: 'object' },
    handle: ({ body, records, caller }) => ({
      body: records('notes').insert({
        ...(body as object),
        _emulator: { teamspace_id: caller.teamspace_id },
      }),
    }),
  }),
  defineEndpoint({
    method: 'GET',
    path,
    handle: ({ records, list, caller }) => ({ body: list(records('notes').visibleTo(caller).toReversed()) }),
  }),
  defineEndpoint({
    method: 'GET',
    path: `${path}/{id}`,
    handle({ records, params, caller, refuse }) {
      const found = records('notes')
        .visibleTo(caller)
        .find(({ id }) => id === params.id)
      return { body: found ?? refuse(404, 'not_found', gone(params.id)) }
    },
  }),
  defineEndpoint({
    method: 'PATCH',
    path: `${path}/{id}`,
    body: { type: 'object' },
    handle: ({ records, params, body }) => ({
      body: records('notes').update(params.id ?? '', body as object),
    }),
  }),
]

interface Made {
  readonly emulator: TestEmulator
  readonly subject: Subject
  /** Creates a record and returns it. */
  create(text?: string): Promise<{ readonly id: string; readonly text: string }>
}

type Guarantee = readonly [title: string, observe: (made: Made) => Promise<unknown>, expected: unknown]

const statusAfter = async ({ emulator, subject }: Made, action: object, more: object = {}) => {
  const match = { path: `*${subject.path}` }
  await emulator.control('POST', '/faults', { match, do: [action], ...more })
  return (await emulator.get(subject.path)).status
}
const last = async ({ emulator }: Made) => (await emulator.control('GET', '/requests?limit=1')).body.data[0]
const traceOf = async (made: Made) =>
  (await made.emulator.control('GET', `/explain/${(await last(made)).id}`)).body
const decided = ({ steps }: { steps: { step: string; outcome: string }[] }) =>
  steps.find(({ outcome }) => outcome === 'decided')?.step

/** What every operation guarantees. */
export const GUARANTEES: readonly Guarantee[] = [
  [
    'a request without a key is refused',
    async ({ emulator, subject }) => (await emulator.get(subject.path, { key: 'none' })).status,
    401,
  ],
  [
    'an unknown key is refused, with the scheme to use',
    async ({ emulator, subject }) => {
      const { status, headers } = await emulator.get(subject.path, { token: 'live_nobody' })
      return [status, headers.get('www-authenticate')]
    },
    [401, 'Bearer'],
  ],
  [
    'a service key may call',
    async ({ emulator, subject }) => (await emulator.get(subject.path, { key: 'KS' })).status,
    200,
  ],
  [
    'a denied operation is refused',
    async ({ emulator, subject }) => {
      const key = (await emulator.control('GET', '/state/api_keys/key-member')).body
      await emulator.control('PUT', '/state/api_keys/key-member', {
        ...key,
        denied: [`${subject.name}.list`],
      })
      return (await emulator.get(subject.path, { key: 'KM' })).status
    },
    403,
  ],
  ['a creation responds with the record', async ({ create }) => (await create('a')).text, 'a'],
  [
    'a created record has an id of the sandbox',
    async ({ create }) => (await create()).id,
    expect.stringMatching(/^[0-9a-f]{24}$/),
  ],
  [
    'a record is read back',
    async ({ emulator, subject, create }) => {
      const { id } = await create('a')
      return (await emulator.get(`${subject.path}/${id}`)).body.text
    },
    'a',
  ],
  [
    'no response has the facts of the emulator',
    async ({ emulator, subject, create }) => {
      const { id } = await create('a')
      const [one, all] = [await emulator.get(`${subject.path}/${id}`), await emulator.get(subject.path)]
      return `${one.text}${all.text}`.includes('_emulator')
    },
    false,
  ],
  [
    'a record of another teamspace does not exist',
    async ({ emulator, subject, create }) => {
      const { id } = await create()
      return (await emulator.get(`${subject.path}/${id}`, { key: 'K2' })).status
    },
    404,
  ],
  [
    'a missing record is a 404 in the standard form',
    async ({ emulator, subject }) => {
      const { status, body } = await emulator.get(`${subject.path}/none`)
      return [status, body.error, body.retryable, Object.keys(body)]
    },
    [404, 'not_found', false, ['status_code', 'statusCode', 'error', 'message', 'retryable', 'details']],
  ],
  [
    'a change is in the next read',
    async ({ emulator, subject, create }) => {
      const { id } = await create('a')
      await emulator.patch(`${subject.path}/${id}`, { text: 'b' })
      return (await emulator.get(`${subject.path}/${id}`)).body.text
    },
    'b',
  ],
  [
    'a list is in the envelope of lists',
    async ({ emulator, subject, create }) => {
      await create('a')
      const { object, data, has_more } = (await emulator.get(subject.path)).body
      return [object, data.length, has_more]
    },
    ['list', 1, false],
  ],
  [
    'responses name the assumption that their contract is not shown',
    async ({ emulator, subject }) => (await emulator.get(subject.path)).assumed.includes('U043'),
    true,
  ],
  [
    'responses have the headers of the rate window',
    async ({ emulator, subject }) => {
      const { headers } = await emulator.get(subject.path)
      return ['limit', 'remaining'].map((name) => headers.get(`x-ratelimit-${name}`))
    },
    ['200', '199'],
  ],
  [
    'a full window refuses with Retry-After',
    async ({ emulator, subject }) => {
      await emulator.control('PUT', `/limits/${subject.name}.list`, { limit: 1 })
      await emulator.get(subject.path)
      const { status, headers, body } = await emulator.get(subject.path)
      return [status, headers.get('retry-after'), body.error]
    },
    [429, '60', 'rate_limit_exceeded'],
  ],
  [
    'a window can be filled',
    async ({ emulator, subject }) => {
      await emulator.control('POST', `/limits/${subject.name}.list/fill`, { remaining: 0 })
      return (await emulator.get(subject.path)).status
    },
    429,
  ],
  [
    'advancing the clock empties a window',
    async ({ emulator, subject }) => {
      await emulator.control('PUT', `/limits/${subject.name}.list`, { limit: 1 })
      await emulator.get(subject.path)
      emulator.advance('2m')
      return (await emulator.get(subject.path)).status
    },
    200,
  ],
  [
    'every response has the id of its request',
    async ({ emulator, subject }) => (await emulator.get(subject.path)).headers.get('x-emulator-request-id'),
    expect.stringMatching(/^default-\d{6}$/),
  ],
  [
    'Date is the virtual instant',
    async ({ emulator, subject }) => (await emulator.get(subject.path)).headers.get('date'),
    'Sun, 01 Mar 2026 12:00:00 GMT',
  ],
  [
    'JSON has its Content-Type',
    async ({ emulator, subject }) => (await emulator.get(subject.path)).headers.get('content-type'),
    'application/json; charset=utf-8',
  ],
  [
    'HEAD has the head of GET, and no body',
    async ({ emulator, subject, create }) => {
      await create('a')
      const [get, head] = [await emulator.get(subject.path), await emulator.request('HEAD', subject.path)]
      return [
        head.status,
        head.text,
        head.headers.get('content-length') === get.headers.get('content-length'),
      ]
    },
    [200, '', true],
  ],
  [
    'another method is refused, with those that are allowed',
    async ({ emulator, subject }) => {
      const { status, headers } = await emulator.request('PUT', subject.path)
      return [status, headers.get('allow')?.split(', ').sort()]
    },
    [405, ['GET', 'HEAD', 'POST']],
  ],
  [
    'a misspelt path names the nearest ones',
    async ({ emulator, subject }) => {
      const { status, body } = await emulator.get(`${subject.path}x`)
      return [status, body.message.includes(subject.path.replace(/a1.*/, ''))]
    },
    [404, true],
  ],
  [
    'malformed JSON is refused',
    async ({ emulator, subject }) => {
      const { status, body } = await emulator.request('POST', subject.path, { raw: '{' })
      return [status, body.error]
    },
    [400, 'malformed_json'],
  ],
  [
    'a body of another type is refused',
    async ({ emulator, subject }) =>
      (await emulator.request('POST', subject.path, { raw: 'x', type: 'text/plain' })).status,
    415,
  ],
  [
    'a body that is too large is refused',
    async ({ emulator, subject }) =>
      (await emulator.post(subject.path, { text: 'x'.repeat(1_100_000) })).status,
    413,
  ],
  [
    'a refused request changes nothing',
    async ({ emulator, subject }) => {
      const before = emulator.digest()
      await emulator.request('POST', subject.path, { raw: '{' })
      await emulator.get(`${subject.path}/none`)
      return emulator.digest() === before
    },
    true,
  ],
  [
    'a page of a loopback origin may read the response',
    async ({ emulator, subject }) => {
      const headers = { origin: 'http://localhost:3000' }
      return (await emulator.get(subject.path, { headers })).headers.get('access-control-allow-origin')
    },
    'http://localhost:3000',
  ],
  [
    'a preflight is allowed without a key',
    async ({ emulator, subject }) => {
      const headers = { origin: 'http://localhost:3000', 'access-control-request-method': 'POST' }
      return (await emulator.request('OPTIONS', subject.path, { key: 'none', headers })).status
    },
    204,
  ],
  [
    'a fault responds before the handler',
    async (made) => [
      await statusAfter(made, { respond: { status: 503 } }),
      (await last(made)).operation === `${made.subject.name}.list`,
    ],
    [503, true],
  ],
  [
    'a fault responds after the handler, whose change stays',
    async ({ emulator, subject }) => {
      const match = { operation: `${subject.name}.create` }
      await emulator.control('POST', '/faults', {
        match,
        do: [{ respond: { status: 500, effects: 'apply' } }],
      })
      const { status } = await emulator.post(subject.path, { text: 'a' })
      return [status, emulator.state(subject.collection).length]
    },
    [500, 1],
  ],
  [
    'a fault by name fires on that operation only',
    async ({ emulator, subject }) => {
      const match = { operation: `${subject.name}.create` }
      await emulator.control('POST', '/faults', { match, do: [{ respond: { status: 503 } }] })
      return [(await emulator.get(subject.path)).status, (await emulator.post(subject.path, {})).status]
    },
    [200, 503],
  ],
  [
    'a fault changes the body',
    async (made) => {
      await statusAfter(made, { body: { patch: { object: null, extra: 1 } } })
      return (await made.emulator.get(made.subject.path)).body
    },
    { data: [], extra: 1, has_more: false },
  ],
  [
    'a fault changes the head',
    async (made) => {
      await statusAfter(made, { head: { set: { 'x-odd': 'yes' } } })
      return (await made.emulator.get(made.subject.path)).headers.get('x-odd')
    },
    'yes',
  ],
  [
    'a preset counts its matches',
    async (made) => {
      const match = { operation: `${made.subject.name}.list` }
      return [
        await statusAfter(made, { respond: { status: 503 } }, { match, times: 1 }),
        (await made.emulator.get(made.subject.path)).status,
      ]
    },
    [503, 200],
  ],
  [
    'the log has the operation, the caller and the status',
    async (made) => {
      await made.create('a')
      const { operation, status, caller } = await last(made)
      return [operation.replace(made.subject.name, ''), status, caller.key_id]
    },
    ['.create', 200, 'key-owner'],
  ],
  [
    'the explanation names the step that decided',
    async (made) => {
      await made.create('a')
      return decided(await traceOf(made))
    },
    'handle',
  ],
  [
    'the explanation lists what was changed',
    async (made) => {
      const { id } = await made.create('a')
      return (await traceOf(made)).changes.map(({ ref, action }: { ref: string; action: string }) => [
        ref === `${made.subject.collection}/${id}`,
        action,
      ])
    },
    [[true, 'created']],
  ],
  [
    'each sandbox has records of its own',
    async ({ emulator, subject, create }) => {
      await create('a')
      const { status, body } = await emulator.get(subject.path, { headers: { 'x-emulator-sandbox': 'w2' } })
      return [
        status === 200 || status === 401 || status === 404,
        JSON.stringify(body ?? '').includes('"text":"a"'),
      ]
    },
    [true, false],
  ],
  [
    'a reset removes what was created',
    async ({ emulator, subject, create }) => {
      await create('a')
      await emulator.control('POST', '/reset')
      return emulator.state(subject.collection)
    },
    [],
  ],
  [
    'a snapshot restores records',
    async ({ emulator, subject, create }) => {
      await create('a')
      await emulator.control('POST', '/snapshots', { name: 's' })
      await create('b')
      await emulator.control('POST', '/snapshots/s/restore')
      return emulator.state(subject.collection).map(({ text }) => text)
    },
    ['a'],
  ],
  [
    'a logged request can be sent again',
    async (made) => {
      await made.create('a')
      await made.emulator.control('POST', `/requests/${(await last(made)).id}/resend`)
      return made.emulator.state(made.subject.collection).length
    },
    2,
  ],
  [
    'the operation is in the list of operations and in OpenAPI',
    async ({ emulator, subject }) => {
      const names = (await emulator.control('GET', '/operations')).body.data.map(
        ({ name }: { name: string }) => name,
      )
      const { paths } = (await emulator.control('GET', '/openapi.json?api=workspace')).body
      const found = Object.values(paths as Record<string, Record<string, { operationId: string }>>).flatMap(
        (each) => Object.values(each).map(({ operationId }) => operationId),
      )
      return [names.includes(`${subject.name}.list`), found.includes(`${subject.name}.list`)]
    },
    [true, true],
  ],
  [
    'what was written outlives kill -9',
    async ({ emulator, subject, create }) => {
      const { id } = await create('a')
      const copy = folderWith({})
      cpSync(dataOf.get(emulator) ?? '', copy, { recursive: true })
      for (const file of readdirSync(copy))
        if (file.includes('lock')) rmSync(join(copy, file), { recursive: true })
      const after = await testEmulator({ endpoints, ephemeral: false, data: copy })
      return (await after.get(`${subject.path}/${id}`)).body.text
    },
    'a',
  ],
]

const dataOf = new WeakMap<TestEmulator, string>()

async function made(subject: Subject): Promise<Made> {
  const data = folderWith({})
  const agents = [{ id: 'a1', _emulator: { teamspace_id: 'ts-a' } }]
  const emulator = await testEmulator({ endpoints, ephemeral: false, data, collections: { agents } })
  dataOf.set(emulator, data)
  const create = async (text = 'x') => (await emulator.post(subject.path, { text })).body
  return { emulator, subject, create }
}

/** Tests each guarantee of built-in operations, and of the same ones that a user defines. */
export function testGuarantees(transports: readonly TransportName[]): void {
  test.for(
    transports.flatMap((transport) =>
      GUARANTEES.map(([title, observe, expected]) => ({ transport, title, observe, expected })),
    ),
  )(
    'over $transport, of a built-in operation and of one of the user: $title',
    { timeout: 30_000 },
    async ({ transport, observe, expected }) => {
      onTestFinished(useTransport(transport))
      const rows = []
      for (const subject of [builtIn, own]) rows.push(await observe(await made(subject)))
      expect(rows).toEqual([expected, expected])
    },
  )
}
