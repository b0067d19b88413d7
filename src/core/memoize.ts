/** The maximum number of results in memory: as many as one sandbox may have rules. */
const MAX_KEPT = 1_000

/** A function that keeps its last results, by their keys. @param most the maximum number of results */
export function memoize<T>(make: (key: string) => T, most = MAX_KEPT): (key: string) => T {
  const kept = new Map<string, T>()
  return (key) => {
    const known = kept.get(key)
    if (known !== undefined) return known
    const made = make(key)
    const [oldest] = kept.keys()
    if (kept.size >= most && oldest !== undefined) kept.delete(oldest)
    kept.set(key, made)
    return made
  }
}
