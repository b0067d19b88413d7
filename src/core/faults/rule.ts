import * as z from 'zod'
import type { Settings } from '../assumptions.ts'
import { didYouMean } from '../did-you-mean.ts'
import { duration, intBetween, nonEmptyText, type ShapeOf, timestamp } from '../fields.ts'
import { fitsGlob } from '../log/glob.ts'
import { requestMembers } from '../log/request-criteria.ts'
import { FAULT_COUNTERS, FAULTS, type TableOf } from '../state/transaction.ts'
import { either, form, mapOf, membersOf, nameAmong, someOf, strictObject } from '../strict-input.ts'
import { type Action, type KnownNames, type Phase, type PrimitiveMap, usesOf } from './primitive.ts'

/** The tables of rules and of what they have counted. */
export const faultRules: TableOf<FaultRule> = { name: FAULTS, label: 'fault rule' }
export const faultCounters: TableOf<FaultCounter> = { name: FAULT_COUNTERS, label: 'fault counter' }

/** Which requests a rule is about; all that is given must hold. */
export type FaultMatch = ShapeOf<typeof requestMatch>

/** What counters are kept by. `tag`: the request header X-Emulator-Tag. */
export const COUNTED_BY = [
  'rule',
  'api_key',
  'idempotency_key',
  'operation',
  'connection',
  'resource_id',
  'tag',
] as const
export type CountedBy = (typeof COUNTED_BY)[number]

/** Which of the matches fire; all that is given must hold. Absent: every one. */
export type When = ShapeOf<typeof when>

/** Who armed a rule. */
export type FaultSource = 'control' | 'header' | 'magic' | `scenario:${string}`

/** One fault, armed. */
export type FaultRule = ShapeOf<typeof storedRule>

/** How often a rule has matched and fired: in all (`key` null), and for each key that it counts by. */
export type FaultCounter = ShapeOf<typeof ruleCounter>

/** The rules and counters of a state document. */
export interface StoredFaults {
  readonly faults: readonly FaultRule[]
  readonly fault_counters: readonly FaultCounter[]
}

/** A rule as users write it: a composition of their own, or a preset and what is to be different about it. */
export type FaultDraft = ShapeOf<typeof draftRule>

/** What the schemas of rules know of the service. */
export interface RuleNames extends KnownNames {
  readonly operations: ReadonlyMap<string, unknown>
  readonly notices: readonly { readonly type: string }[]
  readonly presets: ReadonlyMap<string, unknown>
  readonly primitives: PrimitiveMap
}

/** The way out for a request that names an unknown preset. */
export const ALL_PRESETS = 'GET /__emulator/faults/presets lists every preset.'

/** What a user writes. */
export function draftRule(names: RuleNames, settings: Settings) {
  const { match, actions, named } = parts(names, settings)
  return strictObject({
    /** Default: the name of the preset, or `fault`, with a number where that is taken. */
    id: ruleId().optional(),
    preset: nameAmong([...names.presets.keys()], 'preset', ` ${ALL_PRESETS}`).optional(),
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
export function storedRule(names: RuleNames, settings: Settings) {
  const { match, actions, named } = parts(names, settings)
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

function parts(names: RuleNames, settings: Settings) {
  const actions = z.array(action(names, settings)).max(MAX_ACTIONS)
  const named = mapOf(actions, (name) =>
    name === 'pass' ? 'is what a sequence says where nothing is to happen; take another name' : undefined,
  )
  return { match: match(names), actions, named }
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
export function requestMatch(names: RuleNames) {
  return someOf({
    ...requestMembers([...names.operations.keys()]),
    /** Id of the key's record. */
    api_key: nonEmptyText().optional(),
    principal_kind: z.enum(['user', 'service']).optional(),
    /** The n-th request on its connection, from 1. */
    connection_request_index: intBetween(1, 1_000_000).optional(),
    /** Makes it a rule about webhooks: the type of the notice. Then nothing else but `url` may be given. */
    webhook: webhookType(names).optional(),
    /** The receiver of a webhook. */
    url: nonEmptyText().optional(),
  })
}

function match(names: RuleNames) {
  const all = z.literal('everything', { error: 'must be an object, or "everything" for every request' })
  return either<FaultMatch | 'everything'>(
    'must be an object, or "everything" for every request',
    form.text(all),
    form.object(requestMatch(names)),
  )
}

function webhookType({ notices }: RuleNames): z.ZodType<string> {
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
function action(names: RuleNames, settings: Settings): z.ZodType<Action> {
  const { primitives } = names
  const fields = [...primitives.values()].map(
    ({ name, schema }) => [name, schema(names, settings).optional()] as const,
  )
  const only = strictObject(Object.fromEntries(fields)).refine((value) => membersOf(value).length === 1, {
    error: `must have exactly one of ${[...primitives.keys()].join(', ')}; several are several actions`,
  })
  return only as z.ZodType<unknown> as z.ZodType<Action>
}

export function ruleCounter() {
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

const PHASES = ['accept', 'head', 'call'] as const

/** When a rule has to be decided: in time for the earliest of all that it may do. */
export function phaseOf(
  { match, do: plain, actions }: Pick<FaultRule, 'match' | 'do' | 'actions'>,
  primitives: PrimitiveMap,
): Phase {
  if (match !== 'everything' && match.webhook !== undefined) return 'webhook'
  const uses = usesOf([...plain, ...Object.values(actions).flat()], primitives)
  const phases = uses.map(({ primitive, parameters }) => primitive.phase?.(parameters) ?? 'call')
  return PHASES.find((phase) => phases.includes(phase)) ?? 'call'
}
