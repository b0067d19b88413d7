/** One call of the control interface, whatever carries it there. */
export interface ControlCall {
  /** Method and path template below `/__emulator`: `POST /batches/{id}/fail`. */
  readonly route: string
  /** What the names in the template stand for. */
  readonly params?: Readonly<Record<string, string>> | undefined
  readonly query?: Readonly<Record<string, string>> | undefined
  /** JSON. */
  readonly body?: unknown
  /** The sandbox that the call is about; absent: the default one. */
  readonly sandbox?: string | undefined
  /** Aborted when nobody waits for the answer any more. */
  readonly signal?: AbortSignal | undefined
}

/** An answer of the control interface, refusals included. */
export interface ControlAnswer {
  readonly status: number
  /** JSON; undefined where there is none. */
  readonly body: unknown
}

/** Carries calls to an emulator: over HTTP, or within the process. Rejects only where no answer came back. */
export type Transport = (call: ControlCall) => Promise<ControlAnswer>
