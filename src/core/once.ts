/** Makes a value at the first call, and returns the same one at further calls. After a promise that rejects, it makes another one. */
export function once<T extends object | string>(make: () => T): () => T {
  let made: T | undefined
  const forget = (): void => {
    made = undefined
  }
  return () => {
    if (made !== undefined) return made
    made = make()
    if (made instanceof Promise) made.catch(forget)
    return made
  }
}
