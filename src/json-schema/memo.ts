import type { JsonObject } from '../core/json.ts'

const MAX_TEXTS = 100
const MAX_TEXT_LENGTH = 100_000

/**
 * Remembers what is made of a schema: for as long as the schema object lives, and for the last hundred schemas
 * also by content, since every batch of a client brings the same schema in a new object.
 */
export function perSchema<T extends object>(make: (schema: JsonObject) => T): (schema: JsonObject) => T {
  const byIdentity = new WeakMap<JsonObject, T>()
  const byText = new Map<string, T>()
  const fromText = (schema: JsonObject): T => {
    const text = JSON.stringify(schema)
    const made = byText.get(text) ?? make(schema)
    byText.delete(text)
    if (text.length > MAX_TEXT_LENGTH) return made
    byText.set(text, made)
    for (const oldest of byText.keys()) {
      if (byText.size <= MAX_TEXTS) break
      byText.delete(oldest)
    }
    return made
  }
  return (schema) => {
    const known = byIdentity.get(schema)
    if (known !== undefined) return known
    const made = fromText(schema)
    byIdentity.set(schema, made)
    return made
  }
}
