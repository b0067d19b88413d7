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
  type FaultSource,
} from './rule.ts'

/** What users and documents say of rules, under one choice of settings. */
export interface RuleSchemas {
  readonly draft: z.ZodType<FaultDraft>
  /** A rule as a state document has it. */
  readonly rule: z.ZodType<FaultRule>
  readonly counter: z.ZodType<FaultCounter>
}

/** The schemas for one choice of settings; made when a rule is first written, since most sandboxes have none. */
export const ruleSchemas = oncePerSettings(
  (service: Service, settings): RuleSchemas => ({
    draft: together(draftRule(service, settings), (value) =>
      clashes(value, expand(value, service), service.primitives),
    ),
    rule: together(storedRule(service, settings), (value) => clashes(value, value, service.primitives)),
    counter: counter(),
  }),
)

/** What a user writes. */
export function draftRule(service: Service, settings: Settings) {
  const { match, actions, named } = parts(service, settings)
  return strictObject({
    /** Default: the name of the preset, or `fault`, with a number where that is taken. */
    id: ruleId().optional(),
    preset: nameAmong([...service.presets.keys()], 'preset', ` ${ALL_PRESETS}`).optional(),
    description: description().optional(),
    match: match.optional(),
    when: when().optional(),
    do: actions.optional(),
    actions: named.optional(),
    priority: priority().optional(),
    then: andThen().optional(),
    times: times().optional(),
    /** Virtual duration, such as `10m`. */
    ttl: duration().optional(),
  })
}

/** What is stored. */
export function storedRule(service: Service, settings: Settings) {
  const { match, actions, named } = parts(service, settings)
  return strictObject({
    id: z.string().min(1),
    source: source(),
    /** The preset that it was made of. */
    preset: z.string().nullable(),
    description: description().nullable(),
    match,
    when: when(),
    /** What is done when it fires without a sequence. */
    do: actions,
    /** What the names of `when.sequence` mean. */
    actions: named,
    /** Higher goes first; equals in the order in which they were armed. */
    priority: priority(),
    /** Whether further rules may fire on the same request. */
    then: andThen(),
    /** Fires at most so often; null for any number. */
    times: times().nullable(),
    /** Virtual duration after which it is no longer looked at; null for ever. */
    ttl: duration().nullable(),
    armed_at: timestamp(),
    /** Real instant; what `until.wall_ms` goes by. */
    armed_wall: timestamp(),
  })
}

function parts(service: Service, settings: Settings) {
  const actions = z.array(action(service, settings)).max(MAX_ACTIONS)
  const named = mapOf(actions, (name) =>
    name === 'pass' ? 'is what a sequence says where nothing is to happen; take another name' : undefined,
  )
  return { match: match(service), actions, named }
}

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
const andThen = () => z.enum(['stop', 'continue'])

function source() {
  return z
    .custom<FaultSource>(
      (value) => typeof value === 'string' && /^(control|header|magic|scenario:.+)$/s.test(value),
      { error: 'must be control, header, or scenario: and its name' },
    )
    .meta({ type: 'string' })
}

/** Texts are globs unless another form is named. */
export function requestMatch(service: Service) {
  return someOf({
    ...requestMembers([...service.operations.keys()]),
    /** Id of the key's record. */
    api_key: nonEmptyText().optional(),
    principal_kind: z.enum(['user', 'service']).optional(),
    /** The n-th request on its connection, from 1. */
    connection_request_index: intBetween(1, 1_000_000).optional(),
    /** Makes it a rule about webhooks: the type of the notice. Then nothing else but `url` may be given. */
    webhook: webhookType(service).optional(),
    /** The receiver of a webhook. */
    url: nonEmptyText().optional(),
  })
}

function match(service: Service) {
  const all = z.literal('everything', { error: 'must be an object, or "everything" for every request' })
  return either<FaultMatch | 'everything'>(
    'must be an object, or "everything" for every request',
    form.text(all),
    form.object(requestMatch(service)),
  )
}

function webhookType({ notices }: Service): z.ZodType<string> {
  const types = notices.map(({ type }) => type)
  return nonEmptyText().refine((glob) => types.some((type) => fitsGlob(glob, type)), {
    error: ({ input }) => `is the type of no webhook.${didYouMean(String(input), types)}`,
  })
}

export function when() {
  const count = (min: number) => intBetween(min, 1_000_000_000).optional()
  const by = () => nameAmong<CountedBy>(COUNTED_BY, 'thing to count by')
  const until = someOf({
    calls: count(1),
    virtual_time: timestamp().optional(),
    wall_ms: count(1),
  })
  return strictObject({
    /** Several together count by their combination. Default `rule`. */
    by: either<CountedBy | readonly CountedBy[]>(
      `must be one of ${COUNTED_BY.join(', ')}, or a list of them`,
      form.text(by()),
      form.list(z.array(by()).min(1).max(COUNTED_BY.length)),
    ).optional(),
    /** Exactly the n-th match, from 1. */
    nth: count(1),
    /** The first matches of this number. */
    first: count(1),
    /** All after the first matches of this number. */
    after: count(1),
    /** Each n-th. */
    every: count(1),
    /** One entry per match; the last one repeats. `pass`: nothing happens; otherwise a name of `actions`. */
    sequence: z.array(nonEmptyText()).min(1).max(1_000).optional(),
    /** 0 to 1; drawn by seed, rule, counter key and counter alone. */
    probability: z.number().min(0).max(1).optional(),
    /** Until this many matches, a virtual instant, or real milliseconds since it was armed. */
    until: until.optional(),
    /** From a virtual instant on. */
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

export function counter() {
  const count = () => intBetween(0, Number.MAX_SAFE_INTEGER)
  return strictObject({
    /** `rule` alone, or `rule key`. */
    id: z.string().min(1),
    rule: z.string().min(1),
    key: z.string().nullable(),
    matched: count(),
    fired: count(),
    /** Virtual instant of the last match. */
    last_at: timestamp(),
  }).refine(({ id, rule, key }) => id === (key === null ? rule : `${rule} ${key}`), {
    error: 'must be the id of the rule, followed by a space and the key unless that is null',
    path: ['id'],
  })
}
