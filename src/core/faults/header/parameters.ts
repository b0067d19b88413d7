import type { Json } from '../../json.ts'
import type { Preset } from '../preset.ts'
import type { Action, PrimitiveName } from '../primitive.ts'
import { isTimed, retimed, TIMINGS } from '../retime.ts'
import type { CountedBy, When } from '../rule.ts'

/** What a parameter of the header X-Emulator-Fault can be: a number, a word or text in quotes, or its mere presence. */
export type HeaderValue = number | string | boolean

export type HeaderValues = ReadonlyMap<string, HeaderValue>

/** A member of an action that a parameter sets. */
interface Place {
  readonly of: PrimitiveName
  readonly path: readonly string[]
  /** The value as the member has it; default: as it is. */
  readonly as?: (value: HeaderValue) => Json
}

function at(of: PrimitiveName, path: string, as?: Place['as']): Place {
  return { of, path: path.split('/'), ...(as && { as }) }
}

const asText = (value: HeaderValue): Json => String(value)
const RETRY_AFTER = ['seconds', 'http-date', 'missing']
const asRetryAfter = (value: HeaderValue): Json =>
  RETRY_AFTER.includes(String(value)) ? value : { text: String(value) }

/** A word is a stage, a whole number bytes of the body, another one its part. */
const asStage = (value: HeaderValue): Json => {
  if (typeof value !== 'number') return value
  return Number.isInteger(value) ? { bytes: value } : { fraction: value }
}

/** Each sets a member of the first action that has one of these places. */
const CHANGES: ReadonlyMap<string, readonly Place[]> = new Map([
  ['in', [at('quota', 'reset_in_s'), at('respond', 'headers/Retry-After', asText)]],
  ['retry_after', [at('quota', 'retry_after', asRetryAfter), at('respond', 'headers/Retry-After', asText)]],
  ['remaining', [at('quota', 'remaining')]],
  ['limit', [at('quota', 'limit')]],
  ['window_s', [at('quota', 'window_s')]],
  ['policy', [at('quota', 'policy')]],
  ['fields', [at('quota', 'fields')]],
  ['reset_format', [at('quota', 'reset_format')]],
  ['status', [at('respond', 'status'), at('head', 'status')]],
  ['code', [at('respond', 'code')]],
  ['detail', [at('respond', 'detail')]],
  ['effects', [at('respond', 'effects'), at('body', 'effects')]],
  ['at', [at('cut', 'at', asStage), at('pace', 'stall_at', asStage)]],
  ['how', [at('cut', 'how')]],
  ['bytes', [at('pace', 'bytes')]],
  ['gap_ms', [at('pace', 'gap_ms')]],
  ['kbps', [at('pace', 'kbps')]],
  ['max_ms', [at('pace', 'max_ms')]],
  ['calls', [at('auth', 'expire_after_calls')]],
  ['reads', [at('state', 'visible_after_reads')]],
])

/** Parameters that belong together, and what they are for. */
export interface ParameterGroup {
  readonly names: readonly string[]
  readonly description: string
}

/** What the parameters are for. */
const GROUPS: readonly ParameterGroup[] = [
  { names: TIMINGS, description: 'as in when: which of the matches fire' },
  { names: ['by'], description: 'as in when: what matches are counted by; several are joined by +' },
  { names: ['times'], description: 'how often it fires in all' },
  { names: ['ttl'], description: 'virtual duration for which it is armed, in quotes: "10m"' },
  { names: ['then'], description: 'continue: lets further rules fire on the same request' },
  { names: ['label'], description: 'changes nothing: tells it apart from the same fault in other requests' },
  { names: ['in'], description: 'seconds until a retry may succeed' },
  { names: ['status', 'code', 'detail', 'effects'], description: 'of the answer that it gives' },
  {
    names: ['retry_after', 'remaining', 'limit', 'window_s', 'policy', 'fields', 'reset_format'],
    description: 'of what it says of the rate limit, as in quota',
  },
  {
    names: ['at', 'how'],
    description: 'where it cuts or stalls: a stage, bytes of the body, or a part of it; fin, rst or pause',
  },
  { names: ['bytes', 'gap_ms', 'kbps', 'max_ms'], description: 'of its pace' },
  { names: ['calls'], description: 'after how many calls the key expires' },
  { names: ['reads'], description: 'how many reads do not find the record' },
]

/** Parameters that every preset takes. */
const GENERAL = [...TIMINGS, 'by', 'times', 'ttl', 'then', 'label']

/** The parameters that a preset takes: those for every rule, and those that its own actions have a place for. */
export function parametersOf(preset: Preset): string[] {
  const own = new Set((preset.do ?? []).flatMap((action) => Object.keys(action)))
  const changing = [...CHANGES].filter(([, places]) => places.some((place) => own.has(place.of)))
  return [...GENERAL, ...changing.map(([name]) => name)]
}

/** The parameters that a preset takes, with what they are for. */
export function parameterHelp(preset: Preset): ParameterGroup[] {
  const taken = parametersOf(preset)
  return GROUPS.flatMap(({ names, description }) => {
    const own = names.filter((name) => taken.includes(name))
    return own.length === 0 ? [] : [{ names: own, description }]
  })
}

/** Whether any preset takes a parameter of this name. */
export function isParameter(name: string): boolean {
  return GENERAL.includes(name) || CHANGES.has(name)
}

/** Counted so, a client that sends its default headers with every attempt gets through at the second. */
const EACH_REQUEST: readonly CountedBy[] = ['operation', 'idempotency_key']

/**
 * When a rule of the header fires. Where nothing is said: once for each operation and idempotency key, unless the preset
 * itself counts by something, in which case its own timing is what it is about.
 */
export function whenOf({ when = {} }: Preset, values: HeaderValues): When {
  const own = isTimed(when) ? when : { ...when, nth: 1 }
  const given = TIMINGS.flatMap((name) => (values.has(name) ? [[name, values.get(name)] as const] : []))
  const by = values.get('by')
  const wanted = {
    ...Object.fromEntries(given),
    // What is no name of a counter is told so by the check of the rule.
    ...(by === undefined ? {} : { by: String(by).split('+') as CountedBy[] }),
  }
  return { by: EACH_REQUEST, ...retimed(own, wanted, values.has('times')) }
}

/** The actions of a preset with what the parameters change, and the pointers into a rule at which each stands. */
export interface Changed {
  readonly actions: readonly Action[]
  readonly places: ReadonlyMap<string, string>
}

/** Sets what the parameters say in the actions of a preset that takes them. */
export function changeActions({ do: actions = [] }: Preset, values: HeaderValues): Changed {
  const places = new Map<string, string>()
  let changed = actions
  for (const [name, value] of values) {
    const place = placeIn(changed, CHANGES.get(name) ?? [])
    if (place === undefined) continue
    const { of, path, as = (same: HeaderValue): Json => same } = place.place
    places.set(`/do/${place.n}/${of}/${path.join('/')}`, name)
    changed = changed.map((action, n) =>
      n === place.n ? (withMember(action as Members, [of, ...path], as(value)) as unknown as Action) : action,
    )
  }
  return { actions: changed, places }
}

function placeIn(actions: readonly Action[], places: readonly Place[]) {
  for (const [n, action] of actions.entries()) {
    const place = places.find(({ of }) => of in action)
    if (place !== undefined) return { n, place }
  }
  return undefined
}

type Members = Readonly<Record<string, unknown>>

function withMember(members: Members, [name = '', ...rest]: readonly string[], value: Json): Members {
  if (rest.length === 0) return { ...members, [name]: value }
  return { ...members, [name]: withMember((members[name] ?? {}) as Members, rest, value) }
}
