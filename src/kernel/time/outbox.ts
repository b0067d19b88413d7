/** Where outgoing webhooks are waited for. */
export interface Outbox {
  /** Nothing is about to be sent or under way; what waits for a later instant does not count. */
  readonly isIdle: boolean
  /** Resolves when {@link Outbox.isIdle} is true. */
  settled(): Promise<void>
}
