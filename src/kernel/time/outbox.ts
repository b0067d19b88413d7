/** What is done about a world outside of it and has to be waited for: webhooks are sent, functions of scenarios are called. */
export interface Outbox {
  /** Nothing is about to be done or under way; what waits for a later instant does not count. */
  readonly isIdle: boolean
  /** Resolves when {@link Outbox.isIdle} is true. */
  settled(): Promise<void>
}

/** Two to be waited for. Either may give the other something to do, so that both have to be idle at once. */
export function both(one: Outbox | undefined, other: Outbox): Outbox {
  if (one === undefined) return other
  const all = [one, other]
  const isIdle = (): boolean => all.every((each) => each.isIdle)
  return {
    get isIdle() {
      return isIdle()
    },
    settled: async () => {
      while (!isIdle()) for (const each of all) await each.settled()
    },
  }
}
