/** The maximum number of results in memory: as many as one sandbox may have rules. */
const MAX_KEPT = 1_000

/** A function that keeps its last results, by their keys. */
export function keeping<T>(make: (key: string) => T): (key: string) => T {
  const kept = new Map<string, T>()
  return (key) => {
    const known = kept.get(key)
    if (known !== undefined) return known
    const made = make(key)
    const [oldest] = kept.keys()
    if (kept.size >= MAX_KEPT && oldest !== undefined) kept.delete(oldest)
    kept.set(key, made)
    return made
  }
}
