/** The collection whose ids a field has, by its name: `user_id` those of `users`, `server_id` those of `mcp_servers`. */
export function collectionNamed(field: string, collections: readonly string[]): string | undefined {
  const [, noun] = /^(.+)_ids?$/.exec(field) ?? []
  if (collections.includes(`${noun}s`)) return `${noun}s`
  const fits = collections.filter((name) => name.endsWith(`_${noun}s`))
  return fits.length === 1 ? fits[0] : undefined
}

/** The reference that a value of a field is; undefined for none. A field `ref` has `collection/id`. */
export function referenceOf(field: string, value: unknown, names: readonly string[]) {
  if (typeof value !== 'string' || value === '') return undefined
  const [collection = '', ...id] = field === 'ref' ? value.split('/') : [collectionNamed(field, names), value]
  return names.includes(collection) ? { collection, id: id.join('/') } : undefined
}

/** Every reference of a record, also in its objects and lists, each once. */
export function referencesIn(record: object, collections: readonly string[]) {
  const found = new Map<string, NonNullable<ReturnType<typeof referenceOf>>>()
  const search = (field: string, value: unknown): void => {
    if (Array.isArray(value)) for (const each of value) search(field, each)
    else if (typeof value === 'object' && value !== null)
      for (const [name, inner] of Object.entries(value)) search(name, inner)
    else {
      const reference = referenceOf(field, value, collections)
      if (reference !== undefined) found.set(`${reference.collection}/${reference.id}`, reference)
    }
  }
  search('', record)
  return [...found.values()]
}
