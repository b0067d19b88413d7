import type { Settings } from '../../core/assumptions.ts'
import { didYouMean } from '../../core/did-you-mean.ts'
import type { Preset } from '../../core/faults/preset.ts'
import type { FaultDraft, FaultMatch } from '../../core/faults/rule.ts'
import { fitsGlob } from '../../core/log/glob.ts'
import { type AnyOperation, inputOf } from '../../core/operation.ts'
import type { Service } from '../../core/service.ts'
import { TOMORROW_KINDS, type TomorrowKind } from '../../core/tomorrow.ts'
import { COMMANDS } from '../../service/client-tasks.ts'
import { UsageError } from '../../terminal/options.ts'

/** A class of operations that are certified in the same way. */
interface CaseClass {
  readonly name: string
  /** Whether an operation belongs to it. A preset of one operation belongs to the first class with its operation. */
  readonly has: (operation: AnyOperation, settings: Settings) => boolean
  /** Whether the failures must meet a request with an Idempotency-Key, or one without; absent: any request. */
  readonly hasKey?: boolean
}

const CLASSES: readonly CaseClass[] = [
  { name: 'stream', has: ({ media }) => media !== undefined },
  { name: 'poll', has: ({ poll }) => poll !== undefined },
  { name: 'list', has: isList },
  { name: 'create-with-key', has: ({ idempotent }) => idempotent === true, hasKey: true },
  { name: 'read', has: ({ method, media }) => method === 'GET' && !media },
  { name: 'create-without-key', has: isCreate, hasKey: false },
  { name: 'action', has: (each) => each.method === 'POST' && !isCreate(each) },
]

/** Webhooks for an adapter: how many seconds ago each is dated, and whether another body was signed. */
export const WEBHOOKS = {
  genuine: { age: 0, isForged: false },
  'wrong-signature': { age: 0, isForged: true },
  'stale-signature': { age: 600, isForged: false },
}

/** One case: a class of operations, and the failures that its first requests meet. */
export interface Case extends Pick<CaseClass, 'hasKey'> {
  /** `read/rate-limited`, `list/server-error+rate-limited`. */
  readonly name: string
  readonly class: string
  /** The commands for an adapter, in order, as long as the calls succeed. */
  readonly commands: readonly string[]
  readonly faults: readonly Preset[]
  /** Absent for a case that only an adapter can meet. */
  readonly rule?: FaultDraft
  readonly webhook?: (typeof WEBHOOKS)['genuine']
  /** What all responses and webhooks have of a later version. */
  readonly tomorrow?: TomorrowKind
  /** Number in the whole programme, from 1, whatever part of it runs. */
  readonly seed: number
}

/** The failures that every class meets. A read meets all that are about any request. */
const BASIC = ['rate-limited', 'server-error', 'rst-before-headers']
const PAIRS = [
  ['server-error', 'rate-limited'],
  ['rst-before-headers', 'server-error'],
]

/** A gateway error although the request took effect: only a problem where that changes something. */
const AFTER_EFFECT = 'ambiguous-gateway-5xx'

/** Presets about webhooks need a receiver, a gate needs a test, a batch that never ends says nothing, and `tomorrow` has cases. */
const LEFT_OUT = ['batch-stuck', 'gate', 'webhook-before-create-response', 'tomorrow']

/** The case in which the body of a create is a stream, which cannot be sent twice without care. */
const STREAMED = 'create-without-key/server-error'

/** A case that no correct client reaches: what has taken effect must not be repeated without a key. */
const UNREACHABLE = 'create-without-key/rst-before-headers+server-error'

/** A case about a list by offset: `list_all` follows cursors. */
const BY_OFFSET = 'list/page-rows-shift'

/** Every case, from the operations and presets of a service: each class with one failure, and with two in a row. */
export function programmeOf(service: Service, settings: Settings, hasAdapter: boolean): Case[] {
  const all = [...service.operations.values()]
  const read = { commands: COMMANDS.tomorrow ?? [] }
  const presets = [...service.presets.values()].filter(({ name }) => !LEFT_OUT.includes(name))
  const failures = CLASSES.flatMap(({ name: kind, has, ...facts }) => {
    const operations = all.filter((each) => has(each, settings))
    const match = matchOf(operations)
    const names = kind === 'read' ? presets.map(({ name }) => name) : [...BASIC]
    if (operations.some(({ method }) => method !== 'GET')) names.push(AFTER_EFFECT)
    const general = presets.filter((preset) => isGeneral(preset) && names.includes(preset.name))
    const own = presets.filter((preset) => {
      const operation = presetOperation(preset, all)
      return operation && CLASSES.find((each) => each.has(operation, settings))?.name === kind
    })
    const pairs = PAIRS.map((pair) => pair.flatMap((name) => service.presets.get(name) ?? []))
    return [
      ...general.map((preset) => ({ faults: [preset], rule: singly(preset, match) })),
      ...own.map((preset) => ({ faults: [preset], rule: singly(preset) })),
      ...pairs.map((faults) => ({ faults, rule: inOrder(faults, match) })),
    ].map((each) => {
      const name = `${kind}/${each.faults.map((fault) => fault.name).join('+')}`
      const commands = name === STREAMED ? ['upload'] : (COMMANDS[kind] ?? [])
      return { name, class: kind, ...facts, ...each, commands }
    })
  })
  const webhooks = Object.entries(WEBHOOKS).map(([name, webhook]) => {
    return { name: `webhook/${name}`, class: 'webhook', commands: ['verify_webhook'], faults: [], webhook }
  })
  const later = TOMORROW_KINDS.map((kind) => {
    const own = kind === 'event' ? { commands: ['verify_webhook'], webhook: WEBHOOKS.genuine } : read
    return { name: `tomorrow/${kind}`, class: 'tomorrow', faults: [], tomorrow: kind, ...own }
  })
  const cases: Case[] = [...failures, ...webhooks, ...later].map((each, n) => ({ ...each, seed: n + 1 }))
  const fits = ({ name, rule, tomorrow }: Case) => (hasAdapter ? name !== BY_OFFSET : (rule ?? tomorrow))
  return cases.filter((each) => each.name !== UNREACHABLE && fits(each))
}

function isList(operation: AnyOperation, settings: Settings): boolean {
  const { shape = {} } = (inputOf(operation, settings).query ?? {}) as { readonly shape?: object }
  return operation.method === 'GET' && ('after' in shape || 'offset' in shape)
}

function isCreate({ method, path }: AnyOperation): boolean {
  return method === 'POST' && !path.includes('{')
}

/** Requests to any of these operations: a match can name only one. */
function matchOf(operations: readonly AnyOperation[]): FaultMatch {
  const paths = operations.map(({ path }) => path.replaceAll(/\{\w+\}/g, '[^/]+'))
  return { method: operations[0]?.method ?? 'GET', path: { regex: `^/v1(?:${paths.join('|')})$` } }
}

/** Whether a preset is about requests of any operation. */
export function isGeneral({ match }: Preset): boolean {
  return match === 'everything' || !('operation' in match || 'path' in match || 'webhook' in match)
}

/** The operation that a preset is about; undefined for one about any request, or about webhooks. */
export function presetOperation(preset: Preset, all: readonly AnyOperation[]): AnyOperation | undefined {
  const { match } = preset
  if (match === 'everything' || isGeneral(preset)) return undefined
  return all.find(({ name, method, path }) =>
    match.operation === undefined
      ? method === match.method && fitsGlob(String(match.path), `/v1${path}`)
      : name === match.operation,
  )
}

// A refusal of any request happens once. What one operation sends wrongly, or a preset that counts its matches, keeps its duration.
function singly({ name, family, when, times }: Preset, match?: FaultMatch): FaultDraft {
  const isOnce = when === undefined && (match !== undefined || family === 'rate limit')
  return { preset: name, ...(match && { match }), ...(isOnce && { times: times ?? 1 }) }
}

function inOrder(faults: readonly Preset[], match: FaultMatch): FaultDraft {
  const actions = Object.fromEntries(faults.map(({ name, do: actions = [] }) => [name, actions]))
  const sequence = [...faults.map(({ name }) => name), 'pass']
  return { id: 'sequence', match, when: { sequence }, actions }
}

type Named = Pick<Case, 'name'>

/** The cases that a pattern names. Throws {@link UsageError} when there is none. */
export function selected<C extends Named>(programme: readonly C[], pattern = '*'): readonly C[] {
  const problem = runProblem(pattern, programme)
  const fix = `Names are CLASS/PRESET, such as ${programme[0]?.name}; * is any run of characters.`
  if (problem !== undefined) throw new UsageError([`--run: ${problem} ${fix}`])
  return programme.filter(({ name }) => fitsGlob(pattern, name))
}

/** Why a pattern names no case. */
export function runProblem(pattern: string, programme: readonly Named[]): string | undefined {
  const names = programme.map(({ name }) => name)
  if (names.some((name) => fitsGlob(pattern, name))) return undefined
  return `no case matches "${pattern}".${didYouMean(pattern, names)}`
}
