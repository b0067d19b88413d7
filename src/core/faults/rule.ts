import { z } from 'zod'
import type { Settings } from '../assumptions.ts'
import { didYouMean } from '../did-you-mean.ts'
import { duration, intBetween, nonEmptyText, type ShapeOf, schemaKey, timestamp } from '../fields.ts'
import { fitsGlob } from '../log/glob.ts'
import { type OperationNames, requestMembers } from '../log/request-criteria.ts'
import { FAULT_COUNTERS, FAULTS, type TableOf } from '../state/transaction.ts'
import { either, form, lazily, mapOf, membersOf, nameAmong, someOf, strictObject } from '../strict-input.ts'
import { type Action, type KnownNames, type Phase, type PrimitiveMap, usesOf } from './primitive.ts'

/** The tables of rules and of their counters. */
export const faultRules: TableOf<FaultRule> = { name: FAULTS, label: 'fault rule' }
export const faultCounters: TableOf<FaultCounter> = { name: FAULT_COUNTERS, label: 'fault counter' }

/** The requests that a rule is about; every given condition must hold. */
export type FaultMatch = ShapeOf<typeof requestMatch>

/** The keys that matches can be counted by. `tag`: the request header X-Emulator-Tag. */
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

/** Selects the matches that fire; every given condition must hold. Absent: all of them. */
export type When = ShapeOf<typeof when>

/** The origin of a rule. */
export type FaultSource = 'control' | 'header' | 'magic' | `scenario:${string}`

/** An armed fault rule. */
export type FaultRule = ShapeOf<typeof storedRule>

/** How often a rule has matched and fired: in total (`key` null), or for one key that it counts by. */
export type FaultCounter = ShapeOf<typeof ruleCounter>

/** The rules and counters of a state document. */
export interface StoredFaults {
  readonly faults: readonly FaultRule[]
  readonly fault_counters: readonly FaultCounter[]
}

/** A rule as users write it: their own composition, or a preset and the fields that override it. */
export type FaultDraft = ShapeOf<typeof draftRule>

/** The parts of the service that the schemas of rules use. */
interface RuleNames extends KnownNames, OperationNames {
  readonly webhookTypes: readonly { readonly type: string }[]
  readonly presets: ReadonlyMap<string, unknown>
  readonly primitives: PrimitiveMap
}

/** The mitigation for a request that names an unknown preset. */
export const ALL_PRESETS = '"workspace-emulator faults presets" lists every preset.'

/** The schema of a rule as a user writes it. */
export function draftRule(names: RuleNames, settings: Settings) {
  const { match, actions, named } = parts(names, settings)
  return strictObject({
    $schema: schemaKey(),
    /** Default: the name of the preset, or `fault`, followed by a number if that is taken. */
    id: ruleId().optional(),
    preset: nameAmong([...names.presets.keys()], 'preset', ` ${ALL_PRESETS}`).optional(),
    description: description().optional(),
    /** Required unless `preset` is given; overrides the match of the preset field by field. */
    match: match.optional(),
    /** Default: that of the preset, else every match fires. */
    when: when().optional(),
    do: actions.optional(),
    actions: named.optional(),
    /** -1,000,000 to 1,000,000, default 0. Rules with a higher priority are evaluated first. */
    priority: priority().optional(),
    /** Whether further rules may fire on the same request. Default: that of the preset, else `stop`. */
    then: andThen().optional(),
    /** Maximum number of times that it fires. Default: that of the preset unless `when` is given, else no limit. */
    times: times().optional(),
    /** Virtual duration after which it expires, such as `10m`. Default: no limit. */
    ttl: duration().optional(),
  })
}

/** The schema of a stored rule. */
export function storedRule(names: RuleNames, settings: Settings) {
  // The operations of a user may have been removed since: no reason to refuse the whole state.
  const mayName = (name: string) =>
    names.mayName?.(name) || didYouMean(name, [...names.operations.keys()]) === ''
  const { match, actions, named } = parts({ ...names, mayName }, settings)
  return strictObject({
    id: z.string().min(1),
    source: source(),
    /** The preset that it was created from; null for none. */
    preset: z.string().nullable(),
    description: description().nullable(),
    match,
    when: when(),
    /** The actions of a rule without a sequence. */
    do: actions,
    /** The action lists that `when.sequence` names. */
    actions: named,
    /** Rules with a higher priority are evaluated first, equal ones in the order in which they were armed. */
    priority: priority(),
    /** Whether further rules may fire on the same request. */
    then: andThen(),
    /** Maximum number of times that it fires; null for no limit. */
    times: times().nullable(),
    /** Virtual duration after which it expires; null for no limit. */
    ttl: duration().nullable(),
    armed_at: timestamp(),
    /** Real instant, from which `until.wall_ms` counts. Only rules with `until.wall_ms` have it. */
    armed_wall: timestamp().exactOptional(),
  })
}

function parts(names: RuleNames, settings: Settings) {
  const actions = z.array(action(names, settings)).max(MAX_ACTIONS)
  const named = mapOf(actions, (name) =>
    name === 'pass' ? 'is reserved for a match without actions; use another name' : undefined,
  )
  return { match: match(names), actions, named }
}

/** Maximum number of actions in one list of a rule. */
const MAX_ACTIONS = 100

/** Visible ASCII: an id is used in paths, in headers, and before the key in the id of a counter. */
const ID = /^[\x21-\x7e]{1,200}$/

function ruleId(): z.ZodType<string> {
  return z
    .string()
    .regex(ID, 'must have 1 to 200 characters of ASCII without blanks')
    .refine((id) => id !== 'presets', { error: 'must not be "presets", the path of the list of presets' })
}

const description = () => nonEmptyText()
const priority = () => intBetween(-1_000_000, 1_000_000)
const times = () => intBetween(1, 1_000_000_000)
const andThen = () => z.enum(['stop', 'continue'])

function source() {
  return z
    .custom<FaultSource>(
      (value) => typeof value === 'string' && /^(control|header|magic|scenario:.+)$/s.test(value),
      { error: 'must be control, header, or scenario:<name>' },
    )
    .meta({ type: 'string' })
}

/** Texts are globs unless another form is named. */
function requestMatch(names: RuleNames) {
  return someOf({
    ...requestMembers(names),
    /** Id of the key's record. */
    api_key: nonEmptyText().optional(),
    principal_kind: z.enum(['user', 'service']).optional(),
    /** Number of the request on its connection, 1 to 1,000,000. */
    connection_request_index: intBetween(1, 1_000_000).optional(),
    /** The type of a webhook. The rule is then about webhooks, and only `url` may be given in addition. */
    webhook: webhookType(names).optional(),
    /** URL of the receiver of a webhook. */
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

function webhookType({ webhookTypes }: RuleNames): z.ZodType<string> {
  const types = webhookTypes.map(({ type }) => type)
  return nonEmptyText().refine((glob) => types.some((type) => fitsGlob(glob, type)), {
    error: ({ input }) => `matches no type of webhook.${didYouMean(String(input), types)}`,
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
    /** A list counts by the combination of its keys. Default `rule`. */
    by: either<CountedBy | readonly CountedBy[]>(
      `must be one of ${COUNTED_BY.join(', ')}, or a list of them`,
      form.text(by()),
      form.list(z.array(by()).min(1).max(COUNTED_BY.length)),
    ).optional(),
    /** Exactly the n-th match, from 1. */
    nth: count(1),
    /** The first matches, up to this number. */
    first: count(1),
    /** All matches after this number. */
    after: count(1),
    /** Every n-th match. */
    every: count(1),
    /** One entry per match; the last one repeats. `pass`: nothing happens; otherwise a name of `actions`. */
    sequence: z.array(nonEmptyText()).min(1).max(1_000).optional(),
    /** 0 to 1. The draw depends only on seed, rule, counter key and counter. */
    probability: z.number().min(0).max(1).optional(),
    /** Up to a number of matches, a virtual instant, or a number of real milliseconds since the rule was armed. */
    until: until.optional(),
    /** From a virtual instant on. */
    from: timestamp().optional(),
  })
}

/** An object with one field: the name of a primitive and its parameters. */
function action(names: RuleNames, settings: Settings): z.ZodType<Action> {
  const { primitives } = names
  const fields = [...primitives.values()].map(
    ({ name, schema }) => [name, lazily(() => schema(names, settings)).optional()] as const,
  )
  const only = strictObject(Object.fromEntries(fields)).refine((value) => membersOf(value).length === 1, {
    error: `must have exactly one of ${[...primitives.keys()].join(', ')}; write each one as a separate action`,
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

/** The phase in which a rule is decided: the earliest that one of its actions needs. */
export function phaseOf(
  { match, do: plain, actions }: Pick<FaultRule, 'match' | 'do' | 'actions'>,
  primitives: PrimitiveMap,
): Phase {
  if (match !== 'everything' && match.webhook !== undefined) return 'webhook'
  const uses = usesOf([...plain, ...Object.values(actions).flat()], primitives)
  const phases = uses.map(({ primitive, parameters }) => primitive.phase?.(parameters) ?? 'call')
  return PHASES.find((phase) => phases.includes(phase)) ?? 'call'
}
