import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Chance, objectId, uuid } from '../../../src/core/random.ts'
import { batchBody } from '../../support/sample-calls.ts'
import { Client } from '../client.ts'
import { atLeast, type Figure, none, type Proof, tried } from '../proof.ts'
import { comesTrue, Stage, type Started } from '../stage.ts'

const STEPS = { short: 30, long: 2_000 }

const SEED = 20_260_309
/** The seed of the sandbox, which determines its ids. */
const IDS = 1

const AT = '2026-01-01T00:00:00.000Z'

// biome-ignore lint/suspicious/noExplicitAny: a state document as the control interface shows it.
type Loose = any

/** D9: records with ids beyond the counters are added in every way, between creates and restarts. */
export const d9: Proof = {
  id: 'D9',
  promise: 'No create replaces or changes an existing record, whatever its origin, also after restarts.',
  run: async (scale, say) => {
    const steps = STEPS[scale]
    await using stage = new Stage()
    const life = new Life(stage)
    await life.begin()
    for (let n = 1; n <= steps; n++) {
      await life.step()
      if (n % 500 === 0) say(`D9: ${n} of ${steps} steps`)
    }
    await life.restart('SIGTERM')
    return life.figures(steps)
  },
}

/** One data folder, its process, and the results so far. */
class Life {
  readonly #stage: Stage
  readonly #chance = new Chance(SEED)
  readonly #file: string
  readonly #done = {
    creates: 0,
    stepped: 0,
    replaced: 0,
    repeated: 0,
    restarts: 0,
    lost: 0,
    edits: 0,
    untaken: 0,
    refused: 0,
  }
  #server!: Started // set by begin
  #client!: Client // set by begin

  constructor(stage: Stage) {
    this.#stage = stage
    this.#file = join(stage.folder, 'data', 'default.json')
  }

  async begin(): Promise<void> {
    this.#server = this.#stage.start()
    this.#client = new Client(await this.#server.port)
    await this.#client.put('/__emulator/state/conversations/talk', { _emulator: { teamspace_id: 'ts-a' } })
    await this.#client.put('/__emulator/state/agents/clerk', { _emulator: { teamspace_id: 'ts-a' } })
    await this.#client.put(`/__emulator/state/messages/${uuid(IDS, 1)}`, message)
    // No endpoint creates messages, whose ids are UUIDs, so a fault creates one with each connection.
    await this.#client.post('/__emulator/faults', {
      match: { operation: 'connections.create' },
      do: [{ state: { insert_rows: { collection: 'messages', count: 1 } } }],
    })
  }

  /** In 55 % of the steps a create, otherwise a change that adds ids beyond the counters. */
  async step(): Promise<void> {
    if (this.#chance.next() < 0.55) return this.#create()
    const ways = [
      () => this.#fixtures(),
      () => this.#record(),
      () => this.#whole(),
      () => this.#snapshot(),
      () => this.#edit(),
      () => this.restart(this.#chance.next() < 0.5 ? 'SIGTERM' : 'SIGKILL'),
    ] as const
    await this.#chance.pick([...ways] as [() => Promise<void>, ...(() => Promise<void>)[]])()
  }

  figures(steps: number): Figure[] {
    const { creates, stepped, replaced, repeated, restarts, lost, edits, untaken, refused } = this.#done
    return [
      tried('steps', steps),
      tried('restarts, by SIGTERM and by kill -9', restarts),
      atLeast('edits of the file while it runs', edits, 1),
      atLeast('creates', creates, Math.floor(steps / 3)),
      atLeast('creates whose next id was taken', stepped, 5),
      none('records that a create replaced or changed', replaced),
      none('issued ids that a record already had', repeated),
      none('creates that were refused, or created no record', refused),
      none('edits that were not accepted', untaken),
      none('records that were lost or changed by a restart', lost),
    ]
  }

  async #create(): Promise<void> {
    const before = await this.#state()
    const { ids, uuids } = before.counters
    const taken = namesOf(before)
    const isTaken = [objectId(IDS, ids + 1), uuid(IDS, uuids + 1)].some((id) => hasId(taken, id))
    const [path, body] = this.#chance.pick(CREATES)
    await this.#client.post(path, body).catch(() => {
      this.#done.refused += 1
    })
    const after = namesOf(await this.#state())
    this.#done.creates += 1
    this.#done.stepped += Number(isTaken)
    this.#done.replaced += changedIn(taken, after)
    const made = [...after.keys()].filter((name) => !taken.has(name))
    if (made.length === 0) this.#done.refused += 1
    this.#done.repeated += made.filter((name) => hasId(taken, idIn(name))).length
  }

  async #fixtures(): Promise<void> {
    const { pages, messages } = await this.#ahead()
    const generate = this.#chance.next() < 0.2 ? { pages: 2 } : {}
    await this.#client.post('/__emulator/fixtures', { collections: { pages, messages }, generate })
  }

  async #record(): Promise<void> {
    const { pages, messages } = await this.#ahead()
    for (const page of pages) await this.#client.put(`/__emulator/state/pages/${page.id}`, page)
    for (const each of messages) await this.#client.put(`/__emulator/state/messages/${each.id}`, each)
  }

  async #whole(): Promise<void> {
    await this.#client.put('/__emulator/state', await this.#document())
  }

  async #snapshot(): Promise<void> {
    await this.#client.put('/__emulator/snapshots/ahead', await this.#document())
    await this.#client.post('/__emulator/snapshots/ahead/restore')
  }

  async #edit(): Promise<void> {
    const known = namesOf(await this.#state())
    const brought = Object.entries(await this.#ahead()).flatMap(([name, records]) =>
      records.filter(({ id }) => !known.has(`${name}/${id}`)).map((record) => ({ name, record })),
    )
    // Without new records it would not be visible when the edit was accepted.
    if (brought.length === 0) return
    // A pending checkpoint can overwrite an edit, so wait until the file is current; D5 tests edits at such times.
    const read = () => JSON.parse(readFileSync(this.#file, 'utf8'))
    const { revision } = await this.#state()
    await comesTrue(async () => read().revision === revision)
    const document = read()
    for (const { name, record } of brought) document.collections[name].push(record)
    writeFileSync(this.#file, JSON.stringify(document, null, 2))
    const isTaken = async (): Promise<boolean> => {
      const present = namesOf(await this.#state())
      return brought.every(({ name, record }) => present.has(`${name}/${record.id}`))
    }
    if (!(await comesTrue(isTaken))) this.#done.untaken += 1
    else this.#done.edits += 1
  }

  /** Stops or kills the process and starts it again. */
  async restart(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    const before = namesOf(await this.#state())
    this.#client.close()
    this.#server.signal(signal)
    await this.#server.ended
    this.#server = this.#stage.start()
    this.#client = new Client(await this.#server.port)
    const after = namesOf(await this.#state())
    this.#done.restarts += 1
    this.#done.lost += changedIn(before, after) + changedIn(after, before)
  }

  /** The state with records beyond the counters, and possibly with lower counters. */
  async #document(): Promise<Loose> {
    const state = await this.#state()
    const lower = () => (this.#chance.next() < 0.5 ? 0 : this.#chance.int(0, 6))
    const { ids, uuids } = state.counters
    state.counters.ids = Math.max(0, ids - lower())
    state.counters.uuids = Math.max(0, uuids - lower())
    const { pages, messages } = await this.#ahead(state)
    for (const [name, records] of Object.entries({ pages, messages }))
      for (const each of records)
        if (!state.collections[name].some(({ id }: Loose) => id === each.id))
          state.collections[name].push(each)
    return state
  }

  async #ahead(state?: Loose) {
    const { ids, uuids } = (state ?? (await this.#state())).counters
    const places = Array.from({ length: this.#chance.int(1, 4) }, () => this.#chance.int(1, 6))
    return {
      pages: [...new Set(places)].map((n) => ({ ...page, id: objectId(IDS, ids + n) })),
      messages: [...new Set(places)].map((n) => ({ ...message, id: uuid(IDS, uuids + n) })),
    }
  }

  #state(): Promise<Loose> {
    return this.#client.get('/__emulator/state')
  }
}

const page = { name: 'Ahead', teamspace_id: 'ts-a', scope: 'teamspace', created_at: AT }
const message = { _emulator: { conversation_id: 'talk', kind: 'agent' } }

/** Creates of the API and of the control interface, of one record and of two. */
const CREATES: readonly [
  readonly [path: string, body: object],
  ...(readonly [path: string, body: object])[],
] = [
  ['/v1/pages', { name: 'Mine' }],
  ['/v1/organization/teamspaces', { name: 'Mine' }],
  ['/v1/connections', { connector_id: 'x', connection_provider_id: 'y' }],
  ['/v1/batch-predictions', batchBody(1)],
  ['/v1/agents/clerk/automations', { name: 'Daily' }],
  ['/v1/agents/generate', {}],
  ['/__emulator/webhooks', { url: 'http://127.0.0.1:9/' }],
]

// The order of fields is not part of a record: after a replay, a replaced record has the order of the one before.
function textOf(record: object): string {
  return JSON.stringify(record, (_, value) =>
    value === null || typeof value !== 'object' || Array.isArray(value)
      ? value
      : Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))),
  )
}

/** The records of a state by collection and id, each as text. */
function namesOf({ collections }: Loose): ReadonlyMap<string, string> {
  return new Map(
    Object.entries(collections as Record<string, { id: string }[]>).flatMap(([name, rows]) =>
      rows.map((row) => [`${name}/${row.id}`, textOf(row)] as const),
    ),
  )
}

function changedIn(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): number {
  return [...before].filter(([name, record]) => after.get(name) !== record).length
}

const idIn = (name: string): string => name.slice(name.indexOf('/') + 1)

function hasId(names: ReadonlyMap<string, string>, id: string): boolean {
  return [...names.keys()].some((name) => idIn(name) === id)
}
