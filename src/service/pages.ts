import { z } from 'zod'
import { choice, inResponse, type Reliance } from '../core/assumptions.ts'
import { requiredFlag, requiredIf } from '../core/core-assumptions.ts'
import { statusSettings } from '../core/error-kinds.ts'
import { refuseInvalid } from '../core/errors.ts'
import { anyObject, type InputOf, timestamp } from '../core/fields.ts'
import { isObject, valueAt } from '../core/json.ts'
import { operation, type Request } from '../core/operation.ts'
import type { Resource } from '../core/service.ts'
import { collection } from '../core/state/collection.ts'
import { DAY } from '../core/time/instant.ts'
import { refersTo } from './records.ts'
import { teamspaces } from './teamspaces/schema.ts'

const pageRecord = () =>
  z.strictObject({
    object: z.literal('page').default('page'),
    id: z.string(),
    name: z.string(),
    teamspace_id: z.string(),
    scope: z.enum(['teamspace', 'organization']),
    parent: anyObject().optional(),
    created_at: timestamp(),
  })

type Page = z.output<ReturnType<typeof pageRecord>>

/** A record of `pages` to write. */
export type PageRecord = InputOf<typeof pageRecord>

const pages = collection<Page>({
  name: 'pages',
  label: 'page',
  schema: pageRecord,
  check: refersTo(teamspaces, 'teamspace_id'),
  generate: ({ faker, newId, ago, chance, any, n }) => ({
    id: newId(),
    name: faker.company.catchPhrase(),
    teamspace_id: any(teamspaces).id,
    scope: n % 4 === 0 ? 'organization' : 'teamspace',
    created_at: ago(chance.int(1, 90) * DAY),
  }),
})

const otherParents = choice({
  key: 'page.parent.other',
  item: 'U001',
  description:
    'Decides what happens to a parent of another type than page: refused, or stored and returned unchanged.',
  values: ['reject', 'passthrough'],
})

const missingParent = choice({
  key: 'page.parent.missing',
  item: 'U001',
  description: 'Decides how a page that has no parent shows it: parent is left out, or null.',
  values: ['omit', 'null'],
  observe: ({ operation, status, sent, received }) => {
    if (operation !== 'pages.create' || status >= 300 || !isObject(received)) return undefined
    if (valueAt(sent, '/parent') !== undefined) return undefined
    return Object.hasOwn(received, 'parent') ? 'null' : 'omit'
  },
})

const defaultScope = choice({
  key: 'page.scope.default',
  item: 'U002',
  description: 'Sets the scope of a page that is created through the API.',
  values: ['teamspace', 'organization'],
  observe: ({ operation, received }) =>
    operation === 'pages.create' ? (valueAt(received, '/scope') as Page['scope'] | undefined) : undefined,
})

const nameRequired = requiredFlag('pages.create', 'name', true)
const parentRequired = requiredFlag('pages.create', 'parent', false)

export const createPage = operation({
  name: 'pages.create',
  method: 'POST',
  path: '/pages',
  summary: 'Create a page',
  section: 'Create page',
  output: (settings) =>
    settings.get(missingParent) === 'null'
      ? pageRecord().extend({ parent: anyObject().nullable().optional() })
      : pageRecord(),
  input: ({ object }, settings) => {
    const onPage = object({
      type: z.string().refine((type) => type === 'page', OTHER_TYPE),
      page_id: z.string(),
    }).meta({
      title: 'page_parent',
    })
    const parent = settings.get(otherParents) === 'passthrough' ? anyObject() : onPage
    return {
      body: object({
        name: requiredIf(settings.get(nameRequired), z.string()),
        parent: requiredIf(settings.get(parentRequired), parent),
      }),
    }
  },
  handle: ({ tx, body, caller, newId, at, assume, note }) => {
    if (body.parent === undefined) assume(parentRequired)
    else checkParent(body.parent, { tx, caller, note })
    const page = tx.in(pages).insert({
      object: 'page',
      id: newId(),
      name: body.name ?? '',
      teamspace_id: caller.teamspace_id,
      scope: assume(defaultScope),
      ...(body.parent === undefined ? {} : { parent: body.parent }),
      created_at: at,
    })
    const shown = body.parent === undefined && assume(missingParent) === 'null' ? { parent: null } : {}
    return { body: { ...page, ...shown } }
  },
})

const OTHER_TYPE = {
  error: 'must be "page"',
  params: { assumed: [otherParents.item, otherParents] satisfies Reliance },
}

// A parent that the caller cannot see gets the message of one that does not exist.
function checkParent(
  parent: object,
  { tx, caller, note }: Pick<Request<object, unknown>, 'tx' | 'caller' | 'note'>,
): void {
  if (!('page_id' in parent) || typeof parent.page_id !== 'string') return
  const page = tx.in(pages).get(parent.page_id)
  // The scope `organization` opens a page to every teamspace of its own organization, and to no other.
  const home = page && tx.in(teamspaces).get(page.teamspace_id)?._emulator.organization_id
  const isShared = page?.scope === 'organization' && home === caller.organization_id
  if (page !== undefined && (page.teamspace_id === caller.teamspace_id || isShared)) return
  note('U023', statusSettings.notFound)
  refuseInvalid([{ pointer: '/parent/page_id', detail: `there is no page with the id "${parent.page_id}"` }])
}

export const pagesResource: Resource = {
  name: 'pages',
  operations: [createPage],
  collections: [pages],
  assumptions: {
    items: [
      inResponse(
        'U001',
        'Which other type of parent a page can have: the specification says that parent has two variants, but defines only the type page.',
        'A parent of another type than page is refused, and the response about a page without a parent has no field parent; settings change both.',
      ),
      inResponse(
        'U002',
        'Which scope a new page gets, and how scope shows.',
        'teamspace; pages are read through the control API.',
      ),
    ],
    settings: [otherParents, missingParent, defaultScope, nameRequired, parentRequired],
  },
}
