/** What a client of this folder gets: where the service is, its key, and the passing of time. */
export interface Surroundings {
  readonly baseUrl: string
  readonly apiKey: string
  /** Waits; tests advance the virtual clock instead. */
  readonly sleep: (ms: number) => Promise<void>
  readonly webhooks: {
    readonly secret: string
    readonly subscribe: (url: string) => Promise<unknown>
  }
}
