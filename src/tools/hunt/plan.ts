import type { Preset } from '../../core/faults/preset.ts'
import type { FaultDraft } from '../../core/faults/rule.ts'
import type { AnyOperation } from '../../core/operation.ts'
import { hash } from '../../core/random.ts'
import type { Service } from '../../core/service.ts'
import { isGeneral, presetOperation } from '../certify/programme.ts'
import type { Trial } from './trial.ts'

/** The faults of one run of the command. */
export interface FaultPlan {
  /** `pages.create/rate-limited`; with `/lasting` behind it, the fault does not end; with `+` between them, two faults. */
  readonly name: string
  readonly rules: readonly FaultDraft[]
  /** Whether it is one of those that do most harm. */
  readonly isDangerous?: boolean
}

/** The faults that do most harm: a later version, a write that may have taken effect, a lost connection, 429, 503, a torn stream. */
const DANGEROUS = [
  ...['tomorrow', 'lost-response-after-commit', 'ambiguous-gateway-5xx', 'rst-before-headers'],
  ...['rate-limited', 'unavailable-with-retry-after', 'ndjson-abort-mid-stream'],
]

/** What the command does without faults. */
export function metIn({ entries, deliveries }: Pick<Trial, 'entries' | 'deliveries'>) {
  const named = entries.flatMap(({ operation, headers }) => {
    return operation === undefined ? [] : [{ operation, hasKey: headers['idempotency-key'] !== undefined }]
  })
  return {
    operations: new Set(named.map(({ operation }) => operation)),
    /** The operations that it sends with an Idempotency-Key. */
    keyed: new Set(named.filter(({ hasKey }) => hasKey).map(({ operation }) => operation)),
    hasWebhooks: deliveries > 0,
  }
}

type Met = ReturnType<typeof metIn>

/** Every single fault that can apply: first the dangerous ones, then the others that end, then those without an end. */
export function singles(service: Service, met: Met): FaultPlan[] {
  const all = [...service.operations.values()]
  // Nothing releases a gate.
  const presets = [...service.presets.values()].filter(({ name }) => name !== 'gate')
  const plans = (some: readonly Preset[], isLasting: boolean) =>
    some.flatMap((preset) => operationsFor(preset, all, met).map((each) => planOf(preset, each, isLasting)))
  const ending = plans(presets, false)
  const reads = all.flatMap(({ name, method }) => (method === 'GET' ? `${name}/ambiguous-gateway-5xx` : []))
  const dangerous = DANGEROUS.flatMap((preset) =>
    ending.filter(({ name }) => name.endsWith(`/${preset}`) && !reads.includes(name)),
  )
  return [
    ...dangerous.map((each) => ({ ...each, isDangerous: true })),
    ...ending.filter((each) => !dangerous.includes(each)),
    ...plans(presets.filter(isEndless), true),
  ]
}

/** Sequences of two faults that the command survives one at a time, in an order that depends on the seed. */
export function pairs(survived: readonly FaultPlan[], seed: number): FaultPlan[] {
  const all = survived.flatMap((a) => survived.filter((b) => b !== a).map((b) => joined([a, b])))
  const place = new Map(all.map((each) => [each, hash(seed, each.name)]))
  return all.sort((a, b) => (place.get(a) ?? 0) - (place.get(b) ?? 0))
}

/** The smaller sequences that may fail in the same way, the smallest ones first. */
export function smaller({ name, rules }: FaultPlan): FaultPlan[] {
  const parts = name.split('+').map((each, n) => ({ name: each, rules: rules.slice(n, n + 1) }))
  const ended = parts.map((part) => {
    if (!part.name.endsWith(LASTING)) return part
    const rules = part.rules.map((rule) => ({ ...rule, times: 1 }))
    return { name: part.name.slice(0, -LASTING.length), rules }
  })
  const all = [...ended, ...parts, joined(ended)]
  return all.filter((each, n) => each.name !== name && all.findIndex((one) => one.name === each.name) === n)
}

const LASTING = '/lasting'

function joined(parts: readonly FaultPlan[]): FaultPlan {
  return { name: parts.map(({ name }) => name).join('+'), rules: parts.flatMap(({ rules }) => rules) }
}

/** The operations that a preset can meet, `webhook` for those about webhooks. */
function operationsFor(preset: Preset, all: readonly AnyOperation[], met: Met): string[] {
  const { match } = preset
  if (match !== 'everything' && match.webhook !== undefined) return met.hasWebhooks ? ['webhook'] : []
  if (isGeneral(preset)) return [...met.operations]
  const { name = '' } = presetOperation(preset, all) ?? {}
  const needsKey = match !== 'everything' && match.headers?.['idempotency-key'] !== undefined
  return (needsKey ? met.keyed : met.operations).has(name) ? [name] : []
}

// A preset that counts its matches decides itself when it ends.
function isEndless({ when, times }: Preset): boolean {
  return when === undefined && times === undefined
}

function planOf(preset: Preset, operation: string, isLasting: boolean): FaultPlan {
  const rule = {
    preset: preset.name,
    ...(isGeneral(preset) && { match: { operation } }),
    ...(isEndless(preset) && !isLasting && { times: 1 }),
  }
  return { name: `${operation}/${preset.name}${isLasting ? LASTING : ''}`, rules: [rule] }
}
