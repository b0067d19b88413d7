import { z } from 'zod'
import { inResponse, type Settings, setting } from '../core/assumptions.ts'
import { nonEmptyText, queryInt, queryText, timestamp } from '../core/fields.ts'
import { isObject, valueAt } from '../core/json.ts'
import { operation } from '../core/operation.ts'
import { defaultPageSize, listOrder, ordered } from '../core/request/pagination.ts'
import type { Resource } from '../core/service.ts'
import { collection } from '../core/state/collection.ts'
import { DAY } from '../core/time/instant.ts'
import { noteOrder } from './cursor-page.ts'
import { isOwn, refersTo } from './records.ts'
import { teamspaces } from './teamspaces/schema.ts'

const warehouse = setting({
  key: 'names.warehouse',
  item: 'U006',
  description: 'Sets the word before _dataset_name in a data view; records always have dataset_name.',
  schema: nonEmptyText,
  default: 'warehouse',
  observe: ({ operation, received }) => {
    const view = operation === 'data-views.list' ? valueAt(received, '/data/0') : undefined
    const name = isObject(view) ? Object.keys(view).find((key) => key.endsWith('_dataset_name')) : undefined
    return name?.slice(0, -'_dataset_name'.length)
  },
})

const shownMember = (settings: Settings) => `${settings.get(warehouse)}_dataset_name`

const viewRecord = () =>
  z.strictObject({
    object: z.literal('data_view').default('data_view'),
    id: nonEmptyText(),
    dataset_name: z.string(),
    created_at: timestamp(),
    knowledge_id: z.string(),
    service_account_id: z.string(),
    _emulator: z.strictObject({ teamspace_id: z.string() }),
  })

type DataView = z.output<ReturnType<typeof viewRecord>>

const dataViews = collection<DataView>({
  name: 'data_views',
  label: 'data view',
  schema: (settings) => z.preprocess((raw) => renamed(raw, shownMember(settings)), viewRecord()),
  check: refersTo(teamspaces, '_emulator', 'teamspace_id'),
  generate: ({ faker, chance, newId, ago, any }) => ({
    id: newId(),
    dataset_name: faker.word.words(2).replaceAll(' ', '_'),
    created_at: ago(chance.int(1, 200) * DAY),
    knowledge_id: newId(),
    service_account_id: newId(),
    _emulator: { teamspace_id: any(teamspaces).id },
  }),
})

// A record may use the field name of responses. It is stored with a name that does not change with the setting.
function renamed(raw: unknown, from: string): unknown {
  if (!isObject(raw) || !Object.hasOwn(raw, from) || Object.hasOwn(raw, 'dataset_name')) return raw
  const { [from]: dataset_name, ...rest } = raw
  return { ...rest, dataset_name }
}

const viewResponse = (settings: Settings) =>
  viewRecord()
    .omit({ dataset_name: true, _emulator: true })
    // In a response nothing has a default.
    .extend({ object: z.literal('data_view'), [shownMember(settings)]: z.string() })

const listDataViews = operation({
  name: 'data-views.list',
  method: 'GET',
  path: '/data-views',
  summary: 'List the data views of the teamspace',
  section: 'List data views',
  output: (settings) => z.strictObject({ object: z.literal('list'), data: z.array(viewResponse(settings)) }),
  input: ({ object }) => ({
    query: object({
      service_account_id: queryText().optional(),
      knowledge_id: queryText().optional(),
      limit: queryInt(1, 100).optional(),
      offset: queryInt(0, 100_000).optional(),
    }),
  }),
  handle: ({ tx, query, caller, seed, settings, assume }) => {
    const { service_account_id, knowledge_id, offset = 0 } = query
    const limit = query.limit ?? settings.get(defaultPageSize)
    const found = tx
      .in(dataViews)
      .filter(
        (view) =>
          isOwn(caller, view) &&
          (service_account_id === undefined || view.service_account_id === service_account_id) &&
          (knowledge_id === undefined || view.knowledge_id === knowledge_id),
      )
    const page = ordered(found, settings.get(listOrder), seed).slice(offset, offset + limit)
    if (query.limit === undefined && offset + limit < found.length) assume(defaultPageSize)
    noteOrder(found, assume)
    if (page.length > 0) assume(warehouse)
    const member = shownMember(settings)
    return { body: { object: 'list', data: page.map((view) => itemOf(view, member)) } }
  },
})

function itemOf({ object, id, dataset_name, created_at, ...ids }: DataView, member: string): object {
  const { knowledge_id, service_account_id } = ids
  return { object, id, [member]: dataset_name, created_at, knowledge_id, service_account_id }
}

export const dataViewsResource: Resource = {
  name: 'data-views',
  operations: [listDataViews],
  collections: [dataViews],
  assumptions: {
    items: [
      inResponse('U006', 'The word before _dataset_name.', 'warehouse, until a setting gives the real one.'),
    ],
    settings: [warehouse],
  },
}
