import { cpSync } from 'node:fs'
import { basename, join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { JsonObject } from '../../../src/core/json.ts'
import type { InternalOptions, RunningEmulator } from '../../../src/emulator/emulator.ts'
import { workspaceService } from '../../../src/emulator/service.ts'
import { baseCollections, KEYS } from '../../support/base-state.ts'
import { aBatch } from '../../support/batches.ts'
import { type Said, type Sent, send } from '../../support/send.ts'
import { atLeast, type Figure, none, type Proof, tried } from '../proof.ts'
import { against, withFolder } from './emulator.ts'

/** Names that careless code does not treat as keys. */
const NAMES = [
  ...['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'valueOf', '__defineGetter__'],
  ...['length', '', ' ', '.', '..', '../x', 'a/b', 'a~1b', '%2e%2e'],
  ...['\u0000', '\u2028', '\u{1f600}', '\ud800'],
] as const
// Lone surrogates have no UTF-8, so no URL can contain them.
const IN_URL = NAMES.filter((name) => !/\p{Surrogate}/u.test(name))
const IN_HEADER = NAMES.filter((name) => /^[\x21-\x7e]+$/.test(name))

const AGENTS = [{ id: 'agent-1', _emulator: { teamspace_id: 'ts-a' } }]
const OPTIONS: InternalOptions = {
  limits: false,
  settings: { 'batch.unknown_files': 'accept' },
  fixtures: { collections: { ...baseCollections, agents: AGENTS } } as unknown as JsonObject,
}
const AT = '2026-01-01T00:00:00.000Z'
const BATCH = aBatch({ items: 1 })
const PERSON = { email: 'e@example.com', first_name: 'F', last_name: 'L' }
const USER = { ...PERSON, organization_id: 'org-1', created_at: AT }
const MEMBERSHIP = { teamspace_id: 'ts-a', role: 'member', created_at: AT }

const own = (key: string, value: unknown): Record<string, unknown> => Object.fromEntries([[key, value]])

/** What happens to names in every place of one emulator. */
class Trial {
  readonly emulator: RunningEmulator
  readonly found: string[]
  /** Names that were accepted and returned unchanged. */
  kept = 0
  /** Names that were refused without a change. */
  refused = 0

  constructor(emulator: RunningEmulator, found: string[]) {
    this.emulator = emulator
    this.found = found
  }

  api(method: string, path: string, said: Said = {}): Promise<Sent> {
    return send(this, method, `/v1${path}`, said)
  }

  control(method: string, path: string, json?: unknown): Promise<Sent> {
    return send(this, method, `/__emulator${path}`, { authorization: undefined, json })
  }

  /** A name is kept unchanged, or refused without a trace. */
  async judge(
    what: string,
    request: () => Promise<Sent>,
    isKept: (response: Sent) => Promise<boolean> | boolean,
  ): Promise<void> {
    const { store } = this.emulator.sandbox
    const before = store.revision
    const response = await request()
    if (response.status >= 500 && response.status !== 501) this.found.push(`${what} got ${response.status}`)
    else if (response.status >= 400) {
      this.refused += 1
      if (store.revision !== before) this.found.push(`${what} is refused and changes the state`)
    } else if (await isKept(response)) this.kept += 1
    else this.found.push(`${what} is accepted and not returned`)
  }
}

async function asValues(trial: Trial): Promise<void> {
  const post = (path: string, json: object) => () => trial.api('POST', path, { json })
  for (const name of NAMES) {
    const what = JSON.stringify(name)
    await trial.judge(`page name ${what}`, post('/pages', { name }), async ({ body }) => {
      const stored = await trial.control('GET', `/state/pages/${body.id}`)
      return body.name === name && stored.body.name === name
    })
    const metadata = own(name, name)
    const described = post('/batch-predictions', { ...BATCH, metadata })
    await trial.judge(`metadata key ${what}`, described, async ({ body }) => {
      const again = await trial.api('GET', `/batch-predictions/${body.id}`)
      return [body, again.body].every((each) => JSON.stringify(each.metadata) === JSON.stringify(metadata))
    })
    const items = [{ file_id: 'file-1', custom_id: name }]
    const named = post('/batch-predictions', { ...BATCH, items })
    await trial.judge(`custom_id ${what}`, named, async ({ body }) => {
      await trial.control('POST', `/batches/${body.id}/complete`)
      const { text } = await trial.api('GET', `/batch-predictions/${body.id}/results`)
      return (JSON.parse(text) as { custom_id: string }).custom_id === name
    })
    const opaque = { ...own(name, { polluted: 'x4' }), other: own(name, name) }
    const kept = post('/agents/agent-1/automations', opaque)
    await trial.judge(`member ${what} of a record kept as it came`, kept, async ({ body }) => {
      const { id: _, ...rest } = (await trial.api('GET', `/agents/agent-1/automations/${body.id}`)).body
      return isDeepStrictEqual(rest, opaque)
    })
  }
}

async function asIdempotencyKeys(trial: Trial): Promise<void> {
  const made = new Set<unknown>()
  for (const name of IN_HEADER) {
    const create = () =>
      trial.api('POST', '/batch-predictions', { json: BATCH, headers: { 'idempotency-key': name } })
    await trial.judge(`Idempotency-Key ${name}`, create, async ({ body }) => {
      const isNew = !made.has(body.id)
      made.add(body.id)
      return isNew && (await create()).body.id === body.id
    })
  }
}

async function asIds(trial: Trial): Promise<void> {
  for (const name of IN_URL) {
    const [id, what] = [encodeURIComponent(name), JSON.stringify(name)]
    const put = (collection: string, json: object) => () =>
      trial.control('PUT', `/state/${collection}/${id}`, json)
    await trial.judge(`record id ${what}`, put('users', USER), async () => {
      const one = await trial.control('GET', `/state/users/${id}`)
      const patched = await trial.control('PATCH', `/state/users/${id}`, { first_name: name })
      const all = await trial.control('GET', '/state/users')
      const isListed = (all.body.data as { id: string }[]).some((each) => each.id === name)
      return one.body.id === name && patched.body.first_name === name && isListed
    })
    const membership = put('memberships', { ...MEMBERSHIP, user_id: name, agent_ids: [name] })
    await trial.judge(`user id ${what}`, membership, async () => {
      const users = await trial.api('GET', '/organization/teamspaces/ts-a/users?limit=100')
      return (users.body.data as object[]).some((each) => Object.values(each).includes(name))
    })
    const read = ['state/{}', 'state/{}/x', 'faults/{}', 'fault-presets/{}', 'explain/{}', 'batches/{}']
    const told = [
      'scenarios/{}/start',
      'webhooks/deliveries/{}/redeliver',
      'limits/{}/fill',
      'faults/{}/reset',
    ]
    for (const path of [...read, ...told]) {
      const [method, json] = read.includes(path) ? (['GET'] as const) : (['POST', {}] as const)
      const call = () => trial.control(method, `/${path.replace('{}', id)}`, json)
      await trial.judge(`${method} ${path} with ${what}`, call, ({ body }) => body.object === 'list')
    }
  }
}

/** All operations with a parameter in the path, and all lists with each name as cursor. */
async function inPaths(trial: Trial): Promise<void> {
  for (const { method, path, name: operation } of workspaceService.operations.values()) {
    for (const name of IN_URL) {
      const id = encodeURIComponent(name)
      const target = path.replaceAll(/\{\w+\}/g, id)
      const said = method === 'GET' || method === 'DELETE' ? {} : { json: {} }
      if (target !== path && !operation.startsWith('teamspace-users')) {
        const call = () => trial.api(method, target, said)
        await trial.judge(`${method} ${target}`, call, ({ body }) => body?.object === 'list')
      }
      if (!operation.endsWith('.list')) continue
      const list = path.replace(/\{teamspace_?id\}/i, 'ts-a').replaceAll(/\{\w+\}/g, 'agent-1')
      for (const query of [`after=${id}`, `${id}=1`]) {
        const call = () => trial.api(method, `${list}?${query}`)
        await trial.judge(`${list}?${query}`, call, ({ body }) => typeof body === 'object')
      }
    }
  }
}

async function asMembers(trial: Trial): Promise<void> {
  const DO = [{ respond: { status: 500 } }]
  for (const name of NAMES) {
    const value = { polluted: 'x4' }
    const bodies: readonly (readonly [method: string, path: string, json: unknown])[] = [
      ['PATCH', '/settings', own(name, 1)],
      ['PATCH', '/clock', own(name, value)],
      ['POST', '/fixtures', own(name, value)],
      ['POST', '/fixtures', { collections: own(name, [value]) }],
      ['PUT', '/state', own(name, value)],
      ['PUT', '/state', { ...trial.emulator.sandbox.document(), ...own(name, value) }],
      ['PATCH', '/state/users/user-owner', own(name, value)],
      ['PATCH', '/state/pages/none', own(name, value)],
      ['POST', '/faults', own(name, value)],
      ['POST', '/faults', { match: { headers: own(name, 'x') }, do: DO }],
      ['POST', '/faults', { match: { query: own(name, 'x') }, do: DO }],
      ['POST', '/faults', { match: 'everything', do: [own(name, value)] }],
      ['POST', '/faults', { preset: name }],
      ['PUT', '/limits/data-views.list', own(name, 1)],
      ['POST', '/requests/verify', { match: own(name, 'x') }],
      ['POST', '/provider-events', { source: name, event: name, payload: own(name, value) }],
      ['POST', '/webhooks', { url: 'http://127.0.0.1:1/', ...own(name, value) }],
    ]
    for (const [method, path, json] of bodies) {
      const call = () => trial.control(method, path, json)
      await trial.judge(`${method} ${path} with ${JSON.stringify(name)}`, call, () => true)
      await trial.control('DELETE', '/faults')
    }
  }
}

async function asSandboxes(trial: Trial): Promise<void> {
  const { emulator, found } = trial
  const sandboxes = () => JSON.stringify(emulator.sandboxes.list().map(({ sandbox }) => sandbox.name))
  for (const name of NAMES) {
    const make = () => trial.control('POST', '/sandboxes', { name, persist: true })
    const what = JSON.stringify(name)
    await trial.judge(`sandbox name ${what}`, make, async () => {
      return (await trial.control('GET', `/sandboxes/${name}`)).body.name === name
    })
    const save = () => trial.control('POST', '/snapshots', { name })
    await trial.judge(`snapshot name ${what}`, save, async () => {
      return (await trial.control('POST', `/snapshots/${name}/restore`)).body.restored === name
    })
  }
  const known = sandboxes()
  for (const name of IN_URL.filter((each) => !/^[a-z0-9][a-z0-9-]*$/.test(each))) {
    const path = encodeURIComponent(name)
    const inHeaders = [
      { headers: { 'x-emulator-sandbox': name } },
      { authorization: `Bearer ${KEYS.KU}@${name}` },
    ]
    const requests = [
      () => trial.control('GET', `/snapshots/${path}`),
      () => trial.control('PUT', `/snapshots/${path}`, emulator.sandbox.document()),
      () => trial.control('DELETE', `/snapshots/${path}`),
      () => trial.control('DELETE', `/sandboxes/${path}`),
      () => send(trial, 'GET', `/@${path}/v1/data-views`),
      ...(IN_HEADER.includes(name) ? inHeaders : []).map(
        (said) => () => trial.api('GET', '/data-views', said),
      ),
    ]
    // A path with an empty name is the path of the list.
    const isList = ({ body }: Sent) => name === '' && body?.object === 'list'
    for (const request of requests) await trial.judge(`sandbox ${JSON.stringify(name)}`, request, isList)
  }
  if (sandboxes() !== known) found.push('an invalid name has created or removed a sandbox')
}

/** The names that every object and every list inherits, as text. */
function inherited(): string {
  const all = [Object.prototype, Array.prototype, Function.prototype, String.prototype, Map.prototype]
  return JSON.stringify(all.map((each) => Reflect.ownKeys(each).map(String)))
}

async function documentsOf({ sandboxes }: RunningEmulator): Promise<string> {
  for (const { name } of sandboxes.saved()) await sandboxes.openSaved(name)
  const all = sandboxes.list().map(({ sandbox }) => {
    // Rate windows and the count of requests may change.
    const { revision: _, limits: __, counters, ...rest } = sandbox.document()
    return [sandbox.name, { ...rest, counters: { ...counters, requests: 0 } }] as const
  })
  return JSON.stringify(all.sort(([a], [b]) => (a < b ? -1 : 1)))
}

async function run(): Promise<readonly Figure[]> {
  const found: string[] = []
  const before = inherited()
  const counts = { kept: 0, refused: 0 }
  await withFolder(async (folder) => {
    const [data, killed] = [join(folder, 'data'), join(folder, 'killed')]
    const documents = await against({ ...OPTIONS, data }, async ({ emulator, defects }) => {
      const trial = new Trial(emulator, found)
      for (const part of [asValues, asIds, asIdempotencyKeys, asMembers, inPaths, asSandboxes])
        await part(trial)
      Object.assign(counts, { kept: trial.kept, refused: trial.refused })
      found.push(...defects.map((defect) => `defect: ${defect}`))
      cpSync(data, killed, { recursive: true, filter: (path) => basename(path) !== 'lock' })
      return documentsOf(emulator)
    })
    for (const each of [data, killed]) {
      const again = await against({ ...OPTIONS, data: each }, ({ emulator }) => documentsOf(emulator))
      if (again !== documents) found.push(`the sandboxes differ after a restart from ${each}`)
    }
  })
  if (inherited() !== before || 'polluted' in {} || 'x4' in {}) found.push('a prototype has changed')
  return [
    tried('names', NAMES.length),
    atLeast('kept unchanged', counts.kept, 300),
    atLeast('refused without an effect', counts.refused, 800),
    none(`lost, confused, or failed${found.length === 0 ? '' : `: ${found[0]}`}`, found.length),
  ]
}

export const x4: Proof = {
  id: 'X4',
  promise:
    'Every name is treated as a plain name: it is returned unchanged, also after a restart, or is refused.',
  run,
}
