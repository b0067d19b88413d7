import * as z from 'zod'
import type { Settings } from '../../assumptions.ts'
import { catalog } from '../../errors.ts'
import { anyObject, duration, intBetween, nonEmptyText, timestamp } from '../../fields.ts'
import type { JsonObject } from '../../json.ts'
import { isPointer, keysOf } from '../../json.ts'
import type { Service } from '../../operation.ts'
import {
  either,
  form,
  json,
  membersOf,
  nameAmong,
  someOf,
  strictObject,
  together,
} from '../../strict-input.ts'
import { END_OF_TIME } from '../../time/clock.ts'
import { formatInstant, parseDuration } from '../../time/instant.ts'
import type {
  AuthFault,
  ClockFault,
  DeliverFault,
  IdemFault,
  Primitives,
  QuotaFault,
  RecordRef,
  Respond,
  STATE_PRIMITIVES,
  StateFault,
} from '../actions.ts'
import { checkStateFault } from '../acts/rows.ts'
import { headers, literalText } from './bytes.ts'

type StateFaultSchemas = { readonly [N in (typeof STATE_PRIMITIVES)[number]]: z.ZodType<Primitives[N]> }

/** The parameters of the primitives that act on the sandbox of a service. */
export function stateFaultSchemas(service: Service, settings: Settings): StateFaultSchemas {
  return {
    respond: respond(),
    quota: quota(),
    idem: idem(),
    state: state(service, settings),
    auth: auth(),
    clock: clock(),
    deliver: deliver(),
  }
}

const ERROR_CODES = Object.keys(catalog)

function respond(): z.ZodType<Respond> {
  return strictObject({
    status: intBetween(200, 599),
    code: nameAmong(ERROR_CODES, 'error code').optional(),
    detail: nonEmptyText().optional(),
    headers: headers().optional(),
    body: json().optional(),
    effects: z.enum(['none', 'apply']).optional(),
    proxy: z.boolean().optional(),
  })
}

function quota(): z.ZodType<QuotaFault> {
  const count = () => intBetween(0, Number.MAX_SAFE_INTEGER).optional()
  const retryAfter = either<NonNullable<QuotaFault['retry_after']>>(
    'must be "seconds", "http-date", "missing", or {"text": "..."}',
    form.text(z.enum(['seconds', 'http-date', 'missing'])),
    form.object(literalText()),
  )
  return someOf({
    limit: count(),
    remaining: count(),
    reset_in_s: z.number().optional(),
    window_s: z.number().positive().optional(),
    policy: z
      .string()
      .regex(/^[\x20-\x7e]{1,200}$/, 'must have 1 to 200 characters of ASCII')
      .optional(),
    reject: z.boolean().optional(),
    fields: z.enum(['x-ratelimit', 'ietf', 'both', 'none']).optional(),
    retry_after: retryAfter.optional(),
    reset_format: z.enum(['epoch-seconds', 'epoch-milliseconds', 'seconds', 'http-date', 'iso']).optional(),
  })
}

function idem(): z.ZodType<IdemFault> {
  return someOf({
    concurrent: z.boolean().optional(),
    mismatch_status: intBetween(400, 599).optional(),
    scope: z.enum(['teamspace', 'organization', 'api_key']).optional(),
    forget: z.boolean().optional(),
  })
}

/** Records that one rule may make up. */
const MAX_ROWS = 1_000

function state(service: Service, settings: Settings): z.ZodType<StateFault> {
  const collection = () => nameAmong([...service.collections.keys()], 'collection')
  const moves = [...service.moves.values()].map(
    ({ name, schema }) => [name, schema(settings).optional()] as const,
  )
  const rows = strictObject({
    collection: collection(),
    records: z
      .array(anyObject() as z.ZodType<unknown> as z.ZodType<JsonObject>)
      .min(1)
      .max(MAX_ROWS)
      .optional(),
    count: intBetween(1, MAX_ROWS).optional(),
  }).refine(({ records, count }) => (records === undefined) !== (count === undefined), {
    error: 'must have either records or count',
  })
  const about = {
    at: z.enum(['before-handler', 'after-handler']).optional(),
    id: recordRef().optional(),
  }
  const changes = {
    delete: strictObject({ collection: collection(), id: recordRef().optional() }).optional(),
    insert_rows: rows.optional(),
    cleanup: z.boolean().optional(),
    visible_after_reads: intBetween(1, 1_000_000).optional(),
    ...Object.fromEntries(moves),
  }
  const names = Object.keys(changes)
  const fault = strictObject({ ...about, ...changes }).refine(
    (value) => membersOf(value).some((name) => names.includes(name)),
    { error: `must have at least one of ${names.join(', ')}` },
  )
  return together(fault, (value) =>
    checkStateFault(value, service, settings).map(({ pointer, detail }) => ({
      path: keysOf(pointer),
      message: detail,
    })),
  )
}

function recordRef(): z.ZodType<RecordRef> {
  const place = someOf({
    param: nonEmptyText().optional(),
    query: nonEmptyText().optional(),
    body: z.string().refine(isPointer, { error: 'is no JSON Pointer, such as /parent/id' }).optional(),
  }).refine((value) => membersOf(value).length === 1, {
    error: 'must have exactly one of param, query and body',
  })
  return either<RecordRef>(
    'must be an id, or where the request has it: {"param": name}, {"query": name}, {"body": pointer}',
    form.text(nonEmptyText()),
    form.object(place),
  )
}

function auth(): z.ZodType<AuthFault> {
  return someOf({
    expire_now: z.boolean().optional(),
    expire_after_calls: intBetween(0, 1_000_000).optional(),
    kind: z.enum(['user', 'service']).optional(),
    revoke: z.boolean().optional(),
  })
}

function clock(): z.ZodType<ClockFault> {
  const offset = z.string().refine((text) => parseDuration(text.replace(/^[-+]/, '')) !== undefined, {
    error: 'must be a duration with or without a sign, such as -5m or 2h',
  })
  const jump = timestamp().refine((text) => Date.parse(text) <= END_OF_TIME, {
    error: `must be at most ${formatInstant(END_OF_TIME)}, the last instant there is`,
  })
  return someOf({
    offset: offset.optional(),
    freeze: z.boolean().optional(),
    advance: duration().optional(),
    jump: jump.optional(),
  })
}

function deliver(): z.ZodType<DeliverFault> {
  return someOf({
    copies: intBetween(1, 10).optional(),
    order: z.enum(['after-next']).optional(),
    delay: duration().optional(),
    drop: z.boolean().optional(),
    when: z.enum(['before-response']).optional(),
    retries: z.array(duration()).max(100).optional(),
    timeout_ms: intBetween(1, 600_000).optional(),
    sign: z.enum(['valid', 'wrong', 'missing']).optional(),
    body: json().optional(),
  }).refine((value) => value.when === undefined || membersOf(value).length === 1, {
    error: 'stands alone: a rule that holds an answer is about a request, and the others are about a webhook',
    path: ['when'],
  })
}
