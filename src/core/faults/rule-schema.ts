import * as z from 'zod'
import { didYouMean, oncePerSettings, type Settings } from '../assumptions.ts'
import { duration, intBetween, nonEmptyText, timestamp } from '../fields.ts'
import { fitsGlob } from '../log/glob.ts'
import { requestMembers } from '../log/request-criteria.ts'
import type { Service } from '../service.ts'
import { either, form, mapOf, membersOf, nameAmong, someOf, strictObject, together } from '../strict-input.ts'
import { clashes } from './clashes.ts'
import { expand } from './expand.ts'
import { ALL_PRESETS } from './preset.ts'
import type { Action } from './primitive.ts'
import {
  COUNTED_BY,
  type CountedBy,
  type FaultCounter,
  type FaultDraft,
  type FaultMatch,
  type FaultRule,
  type When,
} from './rule.ts'

/** What users and documents say of rules, under one choice of settings. */
export interface RuleSchemas {
  readonly draft: z.ZodType<FaultDraft>
  /** A rule as a state document has it. */
  readonly rule: z.ZodType<FaultRule>
  readonly counter: z.ZodType<FaultCounter>
}

/** The schemas for one choice of settings; made when a rule is first written, since most sandboxes have none. */
export const ruleSchemas = oncePerSettings((service: Service, settings): RuleSchemas => {
  const actions = z.array(action(service, settings)).max(MAX_ACTIONS)
  const named = mapOf(actions, (name) =>
    name === 'pass' ? 'is what a sequence says where nothing is to happen; take another name' : undefined,
  )
  const parts = { match: match(service), when: when() }
  const presets = [...service.presets.keys()]
  const draft = strictObject({
    id: ruleId().optional(),
    preset: nameAmong(presets, 'preset', ` ${ALL_PRESETS}`).optional(),
    description: description().optional(),
    match: parts.match.optional(),
    when: parts.when.optional(),
    do: actions.optional(),
    actions: named.optional(),
    priority: priority().optional(),
    then: z.enum(['stop', 'continue']).optional(),
    times: times().optional(),
    ttl: duration().optional(),
  })
  const rule = strictObject({
    id: z.string().min(1),
    source: source(),
    preset: z.string().nullable(),
    description: description().nullable(),
    match: parts.match,
    when: parts.when,
    do: actions,
    actions: named,
    priority: priority(),
    then: z.enum(['stop', 'continue']),
    times: times().nullable(),
    ttl: duration().nullable(),
    armed_at: timestamp(),
    armed_wall: timestamp(),
  })
  const stored = together(rule, (value) => clashes(value, value, service.primitives))
  return {
    draft: together(draft, (value) => clashes(value, expand(value, service), service.primitives)),
    rule: stored as z.ZodType<unknown> as z.ZodType<FaultRule>,
    counter: counter(),
  }
})

/** Steps that one rule may take on one request. */
const MAX_ACTIONS = 100

/** Visible ASCII: it may stand in a path, in a header and before the key of a counter. */
const ID = /^[\x21-\x7e]{1,200}$/

function ruleId(): z.ZodType<string> {
  return z
    .string()
    .regex(ID, 'must have 1 to 200 characters of ASCII without blanks')
    .refine((id) => id !== 'presets', { error: 'must not be "presets", where the list of presets is' })
}

const description = () => nonEmptyText()
const priority = () => intBetween(-1_000_000, 1_000_000)
const times = () => intBetween(1, 1_000_000_000)

function source(): z.ZodType<string> {
  return z.string().regex(/^(control|header|magic|scenario:.+)$/s, {
    error: 'must be control, header, or scenario: and its name',
  })
}

function match(service: Service): z.ZodType<FaultMatch | 'everything'> {
  const requests = someOf({
    ...requestMembers([...service.operations.keys()]),
    api_key: nonEmptyText().optional(),
    principal_kind: z.enum(['user', 'service']).optional(),
    connection_request_index: intBetween(1, 1_000_000).optional(),
    webhook: webhookType(service).optional(),
    url: nonEmptyText().optional(),
  })
  const all = z.literal('everything', { error: 'must be an object, or "everything" for every request' })
  return either<FaultMatch | 'everything'>(
    'must be an object, or "everything" for every request',
    form.text(all),
    form.object(requests),
  )
}

function webhookType({ notices }: Service): z.ZodType<string> {
  const types = notices.map(({ type }) => type)
  return nonEmptyText().refine((glob) => types.some((type) => fitsGlob(glob, type)), {
    error: ({ input }) => `is the type of no webhook.${didYouMean(String(input), types)}`,
  })
}

function when(): z.ZodType<When> {
  const count = (min: number) => intBetween(min, 1_000_000_000).optional()
  const by = () => nameAmong<CountedBy>(COUNTED_BY, 'thing to count by')
  const until = someOf({
    calls: count(1),
    virtual_time: timestamp().optional(),
    wall_ms: count(1),
  })
  return strictObject({
    by: either<CountedBy | readonly CountedBy[]>(
      `must be one of ${COUNTED_BY.join(', ')}, or a list of them`,
      form.text(by()),
      form.list(z.array(by()).min(1).max(COUNTED_BY.length)),
    ).optional(),
    nth: count(1),
    first: count(1),
    after: count(1),
    every: count(1),
    sequence: z.array(nonEmptyText()).min(1).max(1_000).optional(),
    probability: z.number().min(0).max(1).optional(),
    until: until.optional(),
    from: timestamp().optional(),
  })
}

/** An object with one field: the name of a primitive and its parameters. */
function action(service: Service, settings: Settings): z.ZodType<Action> {
  const { primitives } = service
  const fields = [...primitives.values()].map(
    ({ name, schema }) => [name, schema(service, settings).optional()] as const,
  )
  const only = strictObject(Object.fromEntries(fields)).refine((value) => membersOf(value).length === 1, {
    error: `must have exactly one of ${[...primitives.keys()].join(', ')}; several are several actions`,
  })
  return only as z.ZodType<unknown> as z.ZodType<Action>
}

function counter(): z.ZodType<FaultCounter> {
  const count = () => intBetween(0, Number.MAX_SAFE_INTEGER)
  const shape = strictObject({
    id: z.string().min(1),
    rule: z.string().min(1),
    key: z.string().nullable(),
    matched: count(),
    fired: count(),
    last_at: timestamp(),
  }).refine(({ id, rule, key }) => id === (key === null ? rule : `${rule} ${key}`), {
    error: 'must be the id of the rule, followed by a space and the key unless that is null',
    path: ['id'],
  })
  return shape as z.ZodType<unknown> as z.ZodType<FaultCounter>
}
