import { z } from 'zod'
import { choice, setting } from './assumptions.ts'
import { intBetween } from './fields.ts'
import { isObject } from './json.ts'
import { SECOND } from './time/instant.ts'

/** The default of the service: 200 requests in 60 seconds. Specifications / Rate limits. */
export const DEFAULT_LIMIT = { limit: 200, window: 60 * SECOND }

export const unknownFields = choice({
  key: 'unknown_fields',
  item: 'U018',
  description: 'Decides what happens to unknown fields and query parameters: ignored or refused.',
  values: ['ignore', 'reject'],
})

export const compareBodies = choice({
  key: 'idempotency.compare',
  item: 'T10',
  description:
    'Decides when two bodies under one Idempotency-Key are the same: as JSON values or byte for byte.',
  values: ['json', 'bytes'],
})

/** The scope in which an Idempotency-Key can be unique, in addition to its operation. */
export type KeyScope = 'teamspace' | 'organization' | 'api_key'

export const keyScope = choice({
  key: 'idempotency.scope',
  item: 'U059',
  description:
    'Sets the scope of an Idempotency-Key, in addition to its operation: a teamspace, an organization, or an API key.',
  values: ['teamspace', 'organization', 'api_key'],
})

export const keyLength = setting({
  key: 'idempotency.max_length',
  item: 'U059',
  description: 'Sets the maximum number of characters of an Idempotency-Key.',
  schema: () => intBetween(1, 8_000),
  default: 255,
})

export const policySyntax = choice({
  key: 'limits.admission.syntax',
  item: 'U064',
  description:
    'Sets the syntax of RateLimit and RateLimit-Policy: structured fields, as in the present IETF draft, or limit=5, remaining=0, reset=30, as in its version 7.',
  values: ['structured', 'draft_07'],
})

export const pathKey = choice({
  key: 'limits.path_key',
  item: 'T03',
  description: 'Sets the scope of a rate window: the path template or the concrete path.',
  values: ['template', 'concrete'],
})

export const limitClock = choice({
  key: 'limits.clock',
  item: 'T07',
  description: 'Sets the clock of rate windows.',
  values: ['virtual', 'wall'],
})

export const limitOverride = z.strictObject({
  operation: z.string(),
  limit: intBetween(1, 100_000),
  window_s: intBetween(1, 86_400).default(60),
})

/** A limit of one operation that differs from the default. */
export type LimitOverride = z.output<typeof limitOverride>

export const limitsEnforced = setting<boolean | null>({
  key: 'limits.enforced',
  item: 'U063',
  description:
    'Decides whether a full rate window refuses requests; null: as the option --limits of the emulator.',
  schema: () => z.boolean().nullable(),
  default: null,
})

export const limitOverrides = setting<readonly LimitOverride[]>({
  key: 'limits.overrides',
  item: 'U063',
  description:
    'Sets the operations with their own limit: [{"operation": name, "limit": requests, "window_s": seconds}].',
  schema: () => z.array(limitOverride),
  default: [],
  observe: ({ operation, status, headers }) => {
    const limit = Number(headers['x-ratelimit-limit'])
    // On a 429 the headers may describe another rule.
    if (!(limit > 0) || status === 429) return undefined
    return limit === DEFAULT_LIMIT.limit
      ? []
      : [{ operation, limit, window_s: DEFAULT_LIMIT.window / SECOND }]
  },
})

const updated = success('update', 'updates')

/** The status of a successful operation, by its method. */
export const successStatus = {
  GET: success('read', 'reads and lists'),
  POST: success('create', 'creations and actions'),
  PATCH: updated,
  PUT: updated,
  DELETE: setting({
    key: 'success.delete',
    item: 'U025',
    description: 'Sets the status of successful deletions: 204 without a body, or 200 with an empty object.',
    schema: () => intBetween(200, 299),
    default: 204,
  }),
}

function success(word: string, what: string) {
  return setting({
    key: `success.${word}`,
    item: 'U026',
    description: `Sets the status of successful ${what} that the specification does not show.`,
    schema: statusWithBody,
    default: 200,
  })
}

function statusWithBody() {
  return intBetween(200, 299).refine((status) => status !== 204 && status !== 205, {
    error: 'must be a status whose response has a body: 200 to 299 without 204 and 205',
  })
}

export const successOverrides = setting<Readonly<Record<string, number>>>({
  key: 'success.overrides',
  item: 'U026',
  description:
    'Sets the success status of single operations, where the specification does not show it: {"operation": status}.',
  schema: () => z.record(z.string(), statusWithBody()),
  default: {},
})

/** Whether a field must be given, where the specification shows no required flag (U015). */
export function requiredFlag(operation: string, member: string, value: boolean) {
  return setting({
    key: `required.${operation}.${member}`,
    item: 'U015',
    description: `Decides whether ${operation} requires the field ${member}.`,
    schema: () => z.boolean(),
    default: value,
    observe: (exchange) => {
      const isAccepted = exchange.operation === operation && exchange.status < 300
      return isAccepted && isObject(exchange.sent) && !Object.hasOwn(exchange.sent, member)
        ? false
        : undefined
    },
  })
}

/** The schema itself when `required` is true, otherwise an optional one. */
export function requiredIf<T extends z.ZodType>(required: boolean, schema: T): T | z.ZodOptional<T> {
  return required ? schema : schema.optional()
}

export const emptyPatch = choice({
  key: 'patch.empty',
  item: 'U016',
  description:
    'Decides what happens to a PATCH without a known field: the response is the unchanged object, or the request is refused.',
  values: ['noop', 'reject'],
})

export const immutableMembers = choice({
  key: 'patch.immutable',
  item: 'U017',
  description:
    'Decides what happens to a PATCH that gives an immutable field another value: refused, or the field is ignored.',
  values: ['reject', 'ignore'],
})

export const bodyLimit = setting({
  key: 'http.body_limit',
  item: 'U053',
  description: 'Sets the maximum body size in bytes, for operations without their own limit.',
  schema: () => intBetween(1, 104_857_600),
  default: 1_048_576,
})
