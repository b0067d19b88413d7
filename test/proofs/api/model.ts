import { type ModelBatch, passTime } from '../../support/batch-model.ts'

const DAY = 86_400_000

export interface ModelKey {
  readonly id: string
  readonly items: number
  readonly until: number
  /** The response stored under the key; undefined while the only one so far was lost. */
  text: string | undefined
}

export type ModelFault =
  /** The next request gets this status and has no effect. */
  | { readonly kind: 'refuse'; readonly preset: string; readonly status: number }
  /** The next request takes effect, and its response is lost. */
  | { readonly kind: 'lose'; readonly preset: string }
  /** The first creation under each key takes effect and gets this status. */
  | { readonly kind: 'mask'; readonly preset: string; readonly status: number; readonly met: Set<string> }

/** The expected state. Plain data, so that `structuredClone` makes a snapshot. */
export interface Model {
  now: number
  batches: Map<string, ModelBatch>
  keys: Map<string, ModelKey>
  fault: ModelFault | undefined
  saved: Omit<Model, 'saved'> | undefined
}

export function newModel(now: number): Model {
  return { now, batches: new Map(), keys: new Map(), fault: undefined, saved: undefined }
}

export function passModel(model: Model, ms: number): void {
  model.now += ms
  for (const batch of model.batches.values()) passTime(batch, model.now)
}

export function liveKey({ keys, now }: Model, key: string | undefined): ModelKey | undefined {
  const known = key === undefined ? undefined : keys.get(key)
  return known !== undefined && now < known.until ? known : undefined
}

export function keepKey(model: Model, key: string, record: Omit<ModelKey, 'until'>): void {
  model.keys.set(key, { ...record, until: model.now + DAY })
}

export function saveModel(model: Model): void {
  const { saved: _, ...sandbox } = model
  model.saved = structuredClone(sandbox)
}

export function restoreModel(model: Model): void {
  Object.assign(model, structuredClone(model.saved))
}

export function resetModel(model: Model, now: number): void {
  Object.assign(model, { ...newModel(now), saved: model.saved })
}

/** The outcome of the next request of an operation: whether it takes effect, and the status that replaces its own, if any. */
export interface Fate {
  readonly takesEffect: boolean
  readonly status: number | undefined
  readonly isLost: boolean
}

const UNTOUCHED: Fate = { takesEffect: true, status: undefined, isLost: false }

export function meetFault(model: Model, operation: string, key: string | undefined): Fate {
  const { fault } = model
  if (fault === undefined) return UNTOUCHED
  if (fault.kind === 'mask') {
    const id = key ?? ''
    if (operation !== 'create' || fault.met.has(id)) return UNTOUCHED
    fault.met.add(id)
    return { takesEffect: true, status: fault.status, isLost: false }
  }
  model.fault = undefined
  if (fault.kind === 'lose') return { takesEffect: true, status: undefined, isLost: true }
  return { takesEffect: false, status: fault.status, isLost: false }
}
