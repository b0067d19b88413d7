import { isObject, type Json, type JsonObject, valueAt } from '../json.ts'
import { isMasked, withoutSecret, withSecrets } from '../secrets.ts'
import { webhooks } from '../webhooks/records.ts'
import { type PatchStep, patch, type Row } from './commit.ts'
import type { Document } from './state.ts'

// Signing needs the secret itself, not a digest. So these secrets are stored as they were given, and exports mask them.

/** The places of a state document that can have secrets which sign webhooks. */
const PLACES = [['settings'], ['collections', webhooks.name], ['scenario', 'settings']]

/** A state document without the secrets that sign webhooks. */
export function maskedDocument(document: Document): Document {
  return changed(document as unknown as JsonObject, withoutSecret) as unknown as Document
}

/** A record without the secret that signs webhooks. */
export function maskedRow<T extends Row>(table: string, row: T): T {
  return table === webhooks.name ? withoutSecret(row) : row
}

/** Replaces masks in given records by the secrets of the stored records. `stored` returns a stored record by its id. */
export function unmaskedRows(
  table: string,
  given: readonly unknown[],
  stored: (id: string) => Row | undefined,
): readonly unknown[] {
  if (table !== webhooks.name) return given
  return given.map((raw) =>
    isObject(raw) && typeof raw.id === 'string' ? withSecrets(raw, stored(raw.id)) : raw,
  )
}

/** Replaces masks in a given document by the secrets of the stored document. */
export function unmaskedDocument(raw: unknown, stored: () => Document): unknown {
  if (!isObject(raw) || !hasMask(raw)) return raw
  const known = stored()
  return changed(raw, (value, place) => withSecrets(value, valueAt(known, place)))
}

/** Whether a document has a mask instead of a secret. */
export function hasMask(raw: unknown): boolean {
  return PLACES.some((place) => isMasked(valueAt(raw, place)))
}

function changed(document: JsonObject, change: (value: Json, place: readonly string[]) => Json): JsonObject {
  const steps = PLACES.flatMap((place): PatchStep[] => {
    const value = valueAt(document, place)
    return value === undefined ? [] : [[place, change(value, place)]]
  })
  return patch(document, steps)
}

/** A state document without real instants, so that equal runs give equal documents. It can be loaded. */
export function stableDocument(document: Document): Document {
  const faults = document.faults.map((rule) => {
    const { armed_wall: _, ...rest } = rule as typeof rule & { readonly armed_wall?: string }
    return rest
  })
  return { ...document, clock: { ...document.clock, wall: null }, faults }
}
