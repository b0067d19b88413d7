import { isObject } from '../json.ts'
import { isMasked, withoutSecret, withSecrets } from '../secrets.ts'
import { webhooks } from '../webhooks/records.ts'
import type { Row } from './commit.ts'
import type { Document } from './state.ts'

// Signing needs the secret itself, not a digest. So these secrets are stored as they were given, and exports mask them.

/** A state document without the secrets that sign webhooks. */
export function maskedDocument(document: Document): Document {
  const { scenario, settings, collections } = document
  const rows = collections[webhooks.name]
  return {
    ...document,
    settings: withoutSecret(settings),
    collections: { ...collections, ...(rows && { [webhooks.name]: withoutSecret(rows) }) },
    scenario: scenario && { ...scenario, settings: withoutSecret(scenario.settings) },
  }
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
  const { scenario, settings, collections } = raw
  const known = stored()
  const hooks = isObject(collections) ? collections[webhooks.name] : undefined
  return {
    ...raw,
    ...(settings !== undefined && { settings: withSecrets(settings, known.settings) }),
    ...(hooks !== undefined && {
      collections: {
        ...(collections as object),
        [webhooks.name]: withSecrets(hooks, known.collections[webhooks.name]),
      },
    }),
    ...(isObject(scenario) && {
      scenario: { ...scenario, settings: withSecrets(scenario.settings, known.scenario?.settings) },
    }),
  }
}

/** Whether a document has a mask instead of a secret. */
export function hasMask(raw: unknown): boolean {
  if (!isObject(raw)) return false
  const { scenario, settings, collections } = raw
  return (
    isMasked(settings) ||
    (isObject(collections) && isMasked(collections[webhooks.name])) ||
    (isObject(scenario) && isMasked(scenario.settings))
  )
}
