import * as z from 'zod'
import { setting } from '../../src/core/assumptions.ts'
import { refuse } from '../../src/core/errors.ts'
import { duration, queryInt, text, timestamp } from '../../src/core/fields.ts'
import type { JsonObject } from '../../src/core/json.ts'
import { control, operation } from '../../src/core/operation.ts'
import type { Resource } from '../../src/core/service.ts'
import { collection } from '../../src/core/state/collection.ts'
import { parseDuration } from '../../src/core/time/instant.ts'

const storeRecord = (bound: number) =>
  z.strictObject({
    id: z.string().min(1),
    name: text(bound, 1),
    status: z.enum(['open', 'closed']).default('open'),
    note: z.string().nullable(),
    created_at: timestamp(),
  })

const nameBound = setting({
  key: 'shelves.name_bound',
  item: 'U901',
  description: 'How long the name of a shelf may be.',
  schema: () => z.int().min(1),
  default: 20,
})

const shelves = collection<z.output<ReturnType<typeof storeRecord>>>({
  name: 'shelves',
  label: 'shelf',
  schema: (settings) => storeRecord(settings.get(nameBound)),
})

const bookRecord = () =>
  z.strictObject({
    id: z.string().min(1),
    shelf_id: z.string(),
    title: z.string(),
    lock: z.string().optional(),
    facts: z.custom<object>((value) => typeof value === 'object' && value !== null).optional(),
    created_at: timestamp(),
  })

const books = collection<z.output<ReturnType<typeof bookRecord>>>({
  name: 'books',
  label: 'book',
  secrets: ['lock'],
  schema: bookRecord,
  generate: ({ faker, newId, any, ago, n }) => ({
    id: newId(),
    shelf_id: any(shelves).id,
    title: faker.commerce.productName(),
    created_at: ago(n * 1000),
  }),
  check: ({ shelf_id }, tx) => {
    const shelf = tx.in(shelves).get(shelf_id)
    if (shelf === undefined) {
      return [{ pointer: '/shelf_id', detail: `there is no shelf with the id "${shelf_id}"` }]
    }
    return shelf.name === 'sealed' ? [{ pointer: '/shelf_id', detail: 'is a sealed shelf' }] : []
  },
})

const listBooks = operation({
  name: 'books.list',
  method: 'GET',
  path: '/books',
  summary: 'List books',
  section: 'List books',
  errorFormat: 'standard',
  contract: true,
  success: 200,
  output: () => z.object({ object: z.literal('list'), data: z.array(bookRecord()) }),
  input: ({ object }) => ({ query: object({ limit: queryInt(1, 100).optional() }) }),
  handle: ({ tx, note }) => {
    note('U901')
    return { body: { object: 'list', data: [...tx.in(books)] } }
  },
})

const createBook = operation({
  name: 'books.create',
  method: 'POST',
  path: '/shelves/{shelf_id}/books',
  summary: 'Create a book',
  section: 'Create book',
  errorFormat: 'problem',
  contract: true,
  beta: true,
  idempotent: true,
  success: 201,
  output: bookRecord,
  input: ({ object }) => ({ body: object({ title: text(10, 1) }) }),
  handle: ({ tx, body, params, newId, at }) => ({
    body: tx
      .in(books)
      .put({ id: newId(), shelf_id: params.shelf_id ?? '', title: body.title, created_at: at }),
  }),
})

const closeStore = operation({
  name: 'shelves.close',
  method: 'DELETE',
  path: '/shelves/{shelf_id}',
  summary: 'Close a shelf',
  section: 'Close shelf',
  errorFormat: 'standard',
  contract: false,
  success: 204,
  handle: () => refuse('emulator_contract_unspecified', { detail: 'The behaviour is not specified.' }),
})

/** A service with two collections that refer to each other, an event, a secret, and one intervention of each kind. */
export const library: Resource = {
  name: 'library',
  operations: [listBooks, createBook, closeStore],
  collections: [shelves, books],
  events: [
    {
      kind: 'shelf.close',
      description: 'The shelf closes.',
      handle: ({ tx }, { ref }) => {
        const shelf = tx.in(shelves).require(ref.slice('shelves/'.length))
        if (shelf.name === 'cursed') throw new Error('the shelf is cursed')
        tx.in(shelves).put({ ...shelf, status: 'closed' })
      },
    },
  ],
  controls: [
    control({
      name: 'close',
      method: 'POST',
      path: '/shelves/{id}/close',
      summary: 'Close a shelf, later or at once',
      input: () => ({ body: z.strictObject({ after: duration() }) }),
      output: () => z.strictObject({ id: z.string(), due: z.string() }),
      handle: ({ tx, schedule, now }, { params, body }) => {
        const { id } = tx.in(shelves).require(params.id)
        const due = now + (parseDuration(body.after) ?? 0)
        const event = { kind: 'shelf.close', ref: `shelves/${id}`, description: 'The shelf closes.' }
        schedule({ due, urgency: 'work', ...event })
        return { id, due: new Date(due).toISOString() }
      },
    }),
    control({
      name: 'peek',
      method: 'GET',
      path: '/shelves/{id}',
      summary: 'Look at a shelf',
      output: () => z.looseObject({ id: z.string() }),
      handle: ({ tx }, { params }) => ({ ...tx.in(shelves).require(params.id) }),
    }),
    control({
      name: 'summary',
      method: 'GET',
      path: '/state/summary',
      summary: 'Count shelves, under a path that a collection could have',
      output: () => z.strictObject({ shelves: z.int() }),
      handle: ({ tx }) => ({ shelves: [...tx.in(shelves)].length }),
    }),
    control({
      name: 'break',
      method: 'POST',
      path: '/break',
      summary: 'Fail, as a defect would',
      output: () => z.never(),
      handle: () => {
        throw new TypeError('at /secret/place (node_modules/x.js:1:1)')
      },
    }),
  ],
  assumptions: {
    items: [{ id: 'U901', open: 'How long names are.', decision: '20.', reportedIn: 'response' }],
    settings: [nameBound],
  },
}

const JANUARY = '2026-01-01T00:00:00.000Z'

/** Two shelves, one book with a lock, and a key in each of two teamspaces. */
export const libraryEmulator: JsonObject = {
  collections: {
    shelves: [
      { id: 's1', name: 'Poems', note: null, created_at: JANUARY },
      { id: 's2', name: 'Maps', note: 'dusty', created_at: JANUARY },
    ],
    books: [{ id: 'b1', shelf_id: 's1', title: 'Odes', lock: 'opensesame', created_at: JANUARY }],
    api_keys: [
      { id: 'k1', kind: 'user', token: 'live_a', user_id: 'u1', organization_id: 'o1', teamspace_id: 'ts-a' },
      { id: 'k2', kind: 'service', token: 'service_b', organization_id: 'o1', teamspace_id: 'ts-b' },
    ],
  },
}
