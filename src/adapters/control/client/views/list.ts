/** Several things, as the control interface lists them. */
export interface List<T> {
  readonly object: string
  readonly data: readonly T[]
}

/** What was taken away. */
export interface Removed {
  /** Ids. */
  readonly removed: readonly string[]
}
