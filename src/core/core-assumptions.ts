import * as z from 'zod'
import { type Assumption, type Assumptions, setting } from './assumptions.ts'
import { deprecatedStatusCode, errorTypeBase, statusSettings } from './errors.ts'
import { intBetween } from './fields.ts'
import { servicePrefix, teamspaceHeader, userPrefix } from './request/auth.ts'
import {
  badCursor,
  bothCursors,
  defaultPageSize,
  deletedCursor,
  hasMoreBefore,
  listOrder,
} from './request/pagination.ts'

export const unknownFields = setting<'ignore' | 'reject'>({
  key: 'unknown_fields',
  item: 'U018',
  description: 'Fields and query parameters that no operation knows: ignored or refused.',
  schema: () => z.enum(['ignore', 'reject']),
  default: 'ignore',
})

export const compareBodies = setting<'json' | 'bytes'>({
  key: 'idempotency.compare',
  item: 'T10',
  description: 'When two bodies under one Idempotency-Key are the same: as JSON values or byte for byte.',
  schema: () => z.enum(['json', 'bytes']),
  default: 'json',
})

export const pathKey = setting<'template' | 'concrete'>({
  key: 'limits.path_key',
  item: 'T03',
  description: 'What a rate window belongs to: the path template or the concrete path.',
  schema: () => z.enum(['template', 'concrete']),
  default: 'template',
})

export const limitClock = setting<'virtual' | 'wall'>({
  key: 'limits.clock',
  item: 'T07',
  description: 'Which clock rate windows go by.',
  schema: () => z.enum(['virtual', 'wall']),
  default: 'virtual',
})

export const limitOverride = z.strictObject({
  operation: z.string(),
  limit: intBetween(1, 100_000),
  window_s: intBetween(1, 86_400).default(60),
})

/** A limit of one operation that differs from the default. */
export type LimitOverride = z.output<typeof limitOverride>

export const limitOverrides = setting<readonly LimitOverride[]>({
  key: 'limits.overrides',
  item: 'U063',
  description:
    'Operations with a limit of their own: [{"operation": "pages.create", "limit": 5, "window_s": 60}].',
  schema: () => z.array(limitOverride),
  default: [],
})

export const successRead = success('read', 'reads and lists')
export const successCreate = success('create', 'creations and actions')
export const successUpdate = success('update', 'updates')
export const successDelete = setting({
  key: 'success.delete',
  item: 'U025',
  description: 'Status of successful deletions: 204 without a body, or 200 with an empty object.',
  schema: () => intBetween(200, 299),
  default: 204,
})

function success(word: string, what: string) {
  return setting({
    key: `success.${word}`,
    item: 'U026',
    description: `Status of successful ${what} that the specification does not show.`,
    schema: () =>
      intBetween(200, 299).refine((status) => status !== 204 && status !== 205, {
        error: 'must be a status whose response has a body: 200 to 299 without 204 and 205',
      }),
    default: 200,
  })
}

/** Whether a field must be given, where the specification shows no required flag (U015). */
export function requiredFlag(operation: string, member: string, value: boolean) {
  return setting({
    key: `required.${operation}.${member}`,
    item: 'U015',
    description: `Whether ${operation} requires the field ${member}.`,
    schema: () => z.boolean(),
    default: value,
  })
}

/** The schema as it is, or optional, as a flag says. */
export function requiredIf<T extends z.ZodType>(required: boolean, schema: T): T | z.ZodOptional<T> {
  return required ? schema : schema.optional()
}

export const emptyPatch = setting<'noop' | 'reject'>({
  key: 'patch.empty',
  item: 'U016',
  description: 'A PATCH that names no known field: answered with the unchanged object, or refused.',
  schema: () => z.enum(['noop', 'reject']),
  default: 'noop',
})

export const immutableMembers = setting<'reject' | 'ignore'>({
  key: 'patch.immutable',
  item: 'U017',
  description: 'A PATCH that gives an immutable field another value: refused, or the field is ignored.',
  schema: () => z.enum(['reject', 'ignore']),
  default: 'reject',
})

export const bodyLimit = setting({
  key: 'http.body_limit',
  item: 'U053',
  description: 'Bytes that the body of an operation without a limit of its own may have.',
  schema: () => intBetween(1, 104_857_600),
  default: 1_048_576,
})

const shown = (id: string, open: string, decision: string): Assumption => ({
  id,
  open,
  decision,
  reportedIn: 'response',
})
const universal = (id: string, open: string, decision: string): Assumption => ({
  id,
  open,
  decision,
  reportedIn: 'log',
})
const silent = (id: string, open: string, decision: string): Assumption => ({
  id,
  open,
  decision,
  reportedIn: 'nowhere',
})

/** What core itself decides where the specification is silent. Resources declare the rest next to their code. */
export const coreAssumptions: Assumptions = {
  items: [
    universal(
      'U012',
      'What ids look like.',
      '24 hexadecimal characters in order of creation, from the seed; messages have UUIDs. Fixtures may use any string.',
    ),
    universal('U013', 'How precise timestamps are and in which zone.', 'UTC with milliseconds and Z.'),
    silent(
      'U014',
      'Whether fields of a plain type can be null.',
      'No: the tables are taken literally; fixtures supply values.',
    ),
    shown(
      'U015',
      'Which fields of a body are required.',
      'Those without which the operation means nothing; each has a setting.',
    ),
    shown(
      'U016',
      'What a PATCH without a known field does.',
      'Nothing: the object comes back unchanged, updated_at included.',
    ),
    shown(
      'U017',
      'What happens to an immutable field in a PATCH.',
      'Another value is refused, the present one is accepted.',
    ),
    silent(
      'U018',
      'What happens to unknown fields and query parameters.',
      'They are ignored; a setting refuses them.',
    ),
    shown('U019', 'How long a list is without a limit.', 'It holds 20 records.'),
    shown('U020', 'The order of lists.', 'Newest first, ties by id.'),
    shown(
      'U022',
      'What a cursor that leads nowhere does.',
      'It is refused, so that a mistake in paging code shows.',
    ),
    shown(
      'U023',
      'The status for an unknown id.',
      '404, also for objects of other teamspaces, so that no response reveals whether they exist.',
    ),
    shown('U025', 'Status and body of deletions.', '204 without a body; repeating it is a 404.'),
    universal('U026', 'The success statuses other than the feedback 204.', 'All of them are 200.'),
    silent(
      'U051',
      'Empty metadata keys and repeated JSON fields.',
      'An empty key is a key; of repeated fields the last one counts.',
    ),
    silent(
      'U052',
      'Bounds of prompt, feedback, page name, search and path ids.',
      'Only the limits of bodies and URLs.',
    ),
    shown('U053', 'The body limit of operations without a limit of their own.', '1 MiB after decoding.'),
    shown(
      'U059',
      'Scope and syntax of Idempotency-Key, and what is recorded.',
      'One teamspace and operation; 1 to 255 characters; only accepted creations. Requests run one after the other, so a duplicate in flight waits and replays.',
    ),
    silent(
      'U063',
      'Limits of individual endpoints.',
      'None differ until a setting or the control API says so.',
    ),
    shown(
      'U065',
      'The reason in the details of a 429, and details elsewhere.',
      'rate_limit_exceeded; an empty object elsewhere, or the list of faulty fields.',
    ),
    shown(
      'U066',
      'The base of problem types.',
      'A local address that lists the codes; instance is the path of the request.',
    ),
    shown(
      'U067',
      'Error codes beyond the documented ones.',
      'A plain word for the HTTP condition, and 400 for requests that break a rule of their fields.',
    ),
    shown(
      'U068',
      'The response to a missing or unknown key.',
      '401 with WWW-Authenticate: Bearer, in the form of errors that the endpoint uses.',
    ),
    silent(
      'U069',
      'Prefixes of keys, and how keys are issued, rotated and revoked.',
      'Keys are records of the sandbox; prefixes matter only under --auth any.',
    ),
    silent(
      'U070',
      'Which teamspace a key acts in.',
      'The one in the record of the key; a setting names a header that selects another.',
    ),
    shown(
      'U071',
      'Permissions of the endpoints that name none.',
      'Any key of the teamspace may call them, unless its record denies the operation.',
    ),
    shown(
      'U072',
      '405, 415, HEAD, OPTIONS, trailing slashes and letter case.',
      'Plain HTTP: paths are exact, a wrong method is a 405 with Allow, HEAD counts as GET, preflights need no key.',
    ),
    silent('U073', 'When statusCode goes away.', 'A setting removes it.'),
    silent(
      'U074',
      'The year of the July and August entries.',
      'Not applicable: it changes nothing that a client can observe.',
    ),
    silent('T02', 'What a character is.', 'A Unicode code point, as JSON Schema counts.'),
    silent(
      'T03',
      'Whether a rate window belongs to a path template or a concrete path.',
      'The template: individual endpoints have limits, concrete paths do not.',
    ),
    silent(
      'T04',
      'Whether refused requests count in the window.',
      'A 429 does not, every other response does; otherwise Retry-After would not hold.',
    ),
    silent(
      'T05',
      'What X-RateLimit-Reset means in a sliding window.',
      'The second at which the oldest admitted request leaves it: the shortest wait that is enough.',
    ),
    silent(
      'T06',
      'Rate headers on responses that belong to no window.',
      'The default limit, all of it remaining; nothing is consumed. The 429 of an admission policy describes that policy.',
    ),
    silent(
      'T07',
      'Which clock rate windows go by.',
      'The virtual one, so that advancing it frees a window; a setting chooses the host clock.',
    ),
    silent(
      'T08',
      'How client libraries treat Retry-After.',
      'It is never 0, because clients retry at once on it.',
    ),
    silent(
      'T09',
      'Whether a replay shows the original response or the present state.',
      'The original status and body; rate headers are those of the new request.',
    ),
    silent(
      'T10',
      'When two bodies are the same.',
      'When they are equal as JSON values; a setting compares bytes.',
    ),
    silent(
      'T11',
      'When exactly an idempotency record expires.',
      'At 24 hours after acceptance it is gone; replays do not prolong it.',
    ),
    silent(
      'T20',
      'Whether status_code can differ from the HTTP status.',
      'Never: the body repeats the status of the response.',
    ),
    shown('T25', 'after together with before.', 'Refused: no meaning is stated.'),
    shown(
      'T26',
      'has_more of a page read with before.',
      'Whether rows exist before the page, so that a client that pages back can stop: false for the page with the first row and for an empty one. The literal reading, whether rows follow it in list order, is a setting. Named where the two differ.',
    ),
    silent(
      'T27',
      'Which order makes position cursors shift.',
      'Newest first: rows written between two reads enter before the cursor.',
    ),
    shown(
      'T28',
      'How stable cursors are.',
      'Object-id cursors survive inserts, restarts and the deletion of their own record, by the API, a fault, the control interface or an edit of the state file; position cursors shift, as stated. Named where the record of a cursor is gone.',
    ),
    silent(
      'T36',
      'Endpoints whose section does not list 429.',
      'They are limited all the same, as every endpoint is.',
    ),
  ],
  settings: [
    ...Object.values(statusSettings),
    successRead,
    successCreate,
    successUpdate,
    successDelete,
    unknownFields,
    bodyLimit,
    emptyPatch,
    immutableMembers,
    defaultPageSize,
    listOrder,
    badCursor,
    bothCursors,
    hasMoreBefore,
    deletedCursor,
    compareBodies,
    limitOverrides,
    limitClock,
    pathKey,
    deprecatedStatusCode,
    errorTypeBase,
    userPrefix,
    servicePrefix,
    teamspaceHeader,
  ],
}
