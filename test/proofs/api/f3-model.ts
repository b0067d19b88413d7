import { type ModelBatch, passTime } from '../../support/batch-model.ts'

const DAY = 86_400_000

/** What the model knows of an idempotency key. */
export interface ModelKey {
  readonly id: string
  readonly items: number
  readonly until: number
  /** The response that the key stands for; undefined while the only one so far was lost. */
  text: string | undefined
}

/** Faults that the model knows: what becomes of the request that one meets. */
export type ModelFault =
  /** The next request is answered so, and nothing happens. */
  | { readonly kind: 'refuse'; readonly preset: string; readonly status: number }
  /** The next request takes effect, and its response is lost on the way. */
  | { readonly kind: 'lose'; readonly preset: string }
  /** The first creation under each key takes effect and is answered so. */
  | { readonly kind: 'mask'; readonly preset: string; readonly status: number; readonly met: Set<string> }

/** What the model expects of a whole state. Plain data, so that a snapshot of it is a copy. */
export interface Model {
  now: number
  batches: Map<string, ModelBatch>
  keys: Map<string, ModelKey>
  fault: ModelFault | undefined
  saved: Omit<Model, 'saved'> | undefined
}

/** The model of a new sandbox. */
export function newModel(now: number): Model {
  return { now, batches: new Map(), keys: new Map(), fault: undefined, saved: undefined }
}

/** Lets time pass for everything that is under way. */
export function passModel(model: Model, ms: number): void {
  model.now += ms
  for (const batch of model.batches.values()) passTime(batch, model.now)
}

/** The key's record, as long as it lives. */
export function liveKey({ keys, now }: Model, key: string | undefined): ModelKey | undefined {
  const known = key === undefined ? undefined : keys.get(key)
  return known !== undefined && now < known.until ? known : undefined
}

/** Remembers what a key stands for, for 24 hours. */
export function keepKey(model: Model, key: string, record: Omit<ModelKey, 'until'>): void {
  model.keys.set(key, { ...record, until: model.now + DAY })
}

/** Keeps the sandbox as it is. */
export function saveModel(model: Model): void {
  const { saved: _, ...sandbox } = model
  model.saved = structuredClone(sandbox)
}

/** Goes back to what was kept; what was kept stays. */
export function restoreModel(model: Model): void {
  Object.assign(model, structuredClone(model.saved))
}

/** Starts anew. What was kept stays. */
export function resetModel(model: Model, now: number): void {
  Object.assign(model, { ...newModel(now), saved: model.saved })
}

/** What becomes of the next request of an operation: whether it takes effect, and the status that is seen, if any other. */
export interface Fate {
  readonly takesEffect: boolean
  readonly status: number | undefined
  readonly isLost: boolean
}

const UNTOUCHED: Fate = { takesEffect: true, status: undefined, isLost: false }

/** Uses the armed fault up where it meets this request. */
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
