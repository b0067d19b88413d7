import type { Evidence } from '../log/evidence.ts'
import type { LogEntry, RequestLog } from '../log/request-log.ts'
import type { Service } from '../service.ts'
import type { SandboxState } from '../state/state.ts'
import type { Clock } from '../time/clock.ts'
import type { PendingWork } from '../time/turn.ts'
import type { AttemptResult } from '../webhooks/delivery.ts'
import type { WebhookRequest } from '../webhooks/message.ts'
import type { OwnResult } from './own-result.ts'

/** A request as it arrived on its connection. */
export interface ArrivedRequest {
  readonly method: string
  readonly target: string
  readonly version: string
  /** Names and values in turn, as they arrived. */
  readonly headers: readonly string[]
  /** The bytes of the body, before content decoding; undefined when none were read, `'large'` when they are not kept. */
  body?: Uint8Array | 'large'
}

/** A call of the control interface that may change the sandbox. */
export interface ControlInput {
  readonly route: string
  readonly params: Readonly<Record<string, string>>
  readonly query: unknown
  readonly body: unknown
  readonly ifMatch?: string | undefined
}

/** One input of a sandbox, or one webhook that it sent, in the order in which they were handled. */
export type Recorded = {
  /** The virtual instant that the clock was read at before it, in milliseconds. */
  readonly at: number
  /** The instant of the host. */
  readonly wall: number
} & (
  | { readonly connection: string }
  | ({ readonly request: ArrivedRequest; readonly evidence: Evidence } & Pick<
      LogEntry,
      'id' | 'response' | 'faults' | 'operation' | 'caughtUp'
    >)
  | { readonly control: ControlInput; output?: { readonly status: number; readonly body: unknown } }
  /** An attempt to deliver a webhook began. */
  | { readonly attempt: string; readonly sent: () => WebhookRequest }
  /** Outcomes of attempts were recorded together. */
  | { readonly outcomes: readonly (Omit<AttemptResult, 'received'> & { readonly attempt: string })[] }
  /** A function of a scenario has returned, or has thrown; the id of its call. */
  | { readonly returned: string }
)

/** The parts of a sandbox that its recording reads. */
interface RecordedSandbox {
  readonly log: RequestLog
  readonly clock: Clock
  readonly options: { readonly host: () => number }
  readonly service: Pick<Service, 'operations'>
  readonly advances: { readonly running: unknown }
  readonly deliveries: Pick<PendingWork, 'isIdle' | 'isRequesting'>
  readonly listeners: { onReplaced(listener: () => void): () => void }
  capture(how: { readonly log: false }): SandboxState
}

type Unstamped<T> = T extends unknown ? Omit<T, 'at' | 'wall'> : never

/** A state, and what followed it. */
interface RecordedPart {
  readonly start: SandboxState
  readonly wall: number
  readonly items: Recorded[]
  /** Of endpoints of the user. */
  readonly results: OwnResult[]
  /** The operations at its start; others after files of the user have changed. */
  readonly operations: Service['operations']
  bytes: number
}

/** Inputs after which a new part begins with the state of that moment; the two newest parts are kept. */
const MAX_INPUTS = 1_000

/** Bytes of requests after which a new part begins. */
const MAX_BYTES = 2 * 1024 * 1024

/** A longer body of a request is not kept. */
export const MAX_BODY = 512 * 1024

const IN_FLIGHT = 'Webhooks were being sent when the recording began: a replay begins these attempts again.'
const UNPARSED =
  'Requests that could not be parsed are left out: they change only the numbers of later requests.'

/** The key of a request in its evidence. JSON has no symbols, so that it stays inside; a WeakMap would slow every request down. */
const ARRIVED = Symbol('arrived')

interface NotedEvidence extends Evidence {
  [ARRIVED]?: ArrivedRequest
}

/** Notes a request when its head is complete. */
export function noteArrival(evidence: NotedEvidence, request: ArrivedRequest): void {
  evidence[ARRIVED] = request
}

/** Notes the body of a request when it was read. @param body undefined for one that is too long to keep */
export function noteBody(evidence: NotedEvidence, body: Uint8Array | undefined): void {
  const request = evidence[ARRIVED]
  if (request !== undefined) request.body = body ?? 'large'
}

/**
 * Records what a sandbox has seen since its state was last replaced, so that it can be repeated. It is bounded: when it is full,
 * it begins again with the state of that moment, and counts the inputs before.
 */
export class Recording {
  readonly #sandbox: RecordedSandbox
  /** Oldest first. */
  parts: RecordedPart[] = []
  /** The number of inputs before the parts. */
  dropped = 0
  /** What a replay cannot repeat, each as a sentence. */
  readonly unrepeatable = new Set<string>()
  /** The instant at which the clock was last read for an input. */
  #at = 0
  #calls = 0
  /** Inputs after which a new part begins. */
  maxInputs = MAX_INPUTS

  constructor(sandbox: RecordedSandbox) {
    this.#sandbox = sandbox
    sandbox.log.onEntry((entry, { result }) => {
      // Those of requests without HTTP, too: the call that has sent them is repeated.
      if (result !== undefined) this.#addResult(result)
      this.#onEntry(entry)
    })
    sandbox.listeners.onReplaced(() => {
      this.#leave(this.parts)
      this.dropped = 0
      // Before anything acts on the new state, such as webhooks that it has not sent.
      this.begin()
      this.unrepeatable.clear()
    })
  }

  /** The number of inputs since the state was replaced. */
  get count(): number {
    return this.dropped + this.parts.reduce((sum, { items }) => sum + items.length, 0)
  }

  get hasRequests(): boolean {
    return this.parts.some(({ items }) => items.some((item) => 'request' in item))
  }

  /** Must be called before an input changes anything. */
  begin(): void {
    const part = this.parts.at(-1)
    const isFull = part !== undefined && (part.items.length >= this.maxInputs || part.bytes > MAX_BYTES)
    if (part !== undefined && !(isFull && this.#isIdle)) return
    if (part === undefined && this.#sandbox.deliveries.isRequesting) this.cannotRepeat(IN_FLIGHT)
    // Without an end of all work, no state could be taken to begin with: the recording must still be bounded.
    if (this.parts.length > 1) this.dropped += this.#leave(this.parts.slice(0, 1))
    const { clock, options, service } = this.#sandbox
    const empty = { items: [], results: [], operations: service.operations }
    this.parts.push({
      start: this.#sandbox.capture({ log: false }),
      wall: options.host(),
      ...empty,
      bytes: 0,
    })
    this.#at = clock.now
  }

  /** Notes that the clock was moved to the time that has passed. @param at the time that an input has read, if others came after it */
  read(at = this.#sandbox.clock.now): void {
    this.#at = at
  }

  /** Notes something that a replay cannot repeat. @param sentence shown by the replay */
  cannotRepeat(sentence: string): void {
    this.unrepeatable.add(sentence)
  }

  add(input: Unstamped<Recorded>): Recorded | undefined {
    const part = this.parts.at(-1)
    if (part === undefined) return undefined
    if (part.items.length >= 2 * this.maxInputs) this.forget()
    const item = { at: this.#at, wall: this.#sandbox.options.host(), ...input } as Recorded
    part.items.push(item)
    return item
  }

  /** Records a call of the control interface: when it begins to act, at the latest when it has ended. */
  call(control: ControlInput): { begins(): void; ended(status: number, body: unknown): void } {
    this.begin()
    let item: Recorded | undefined
    const begins = (): void => {
      item ??= this.add({ control })
    }
    this.#calls += 1
    return {
      begins,
      ended: (status, body) => {
        this.#calls -= 1
        begins()
        if (item !== undefined && 'control' in item) item.output = { status, body }
      },
    }
  }

  /** Begins again at the next input, because something that cannot be repeated has happened. */
  forget(): void {
    this.dropped += this.#leave(this.parts)
  }

  /** Removes parts, which come first. @returns the number of their inputs */
  #leave(parts: readonly RecordedPart[]): number {
    this.parts = this.parts.slice(parts.length)
    const items = parts.flatMap((part) => part.items)
    for (const item of items) if ('response' in item) item.response?.release()
    return items.length
  }

  get #isIdle(): boolean {
    const { advances, deliveries } = this.#sandbox
    return advances.running === undefined && deliveries.isIdle && this.#calls === 0
  }

  #addResult(result: OwnResult): void {
    const part = this.parts.at(-1)
    if (part === undefined) return
    part.results.push(result)
    part.bytes += JSON.stringify(result).length
  }

  #onEntry({ id, method, evidence, response, faults, operation, caughtUp }: LogEntry): void {
    // A request without HTTP is part of the call that has sent it.
    if (evidence === undefined) return
    const request = (evidence as NotedEvidence)[ARRIVED]
    // One whose head was parsed, but not its body, has no method either.
    if (request === undefined || method === '') this.cannotRepeat(UNPARSED)
    else if (request.body === 'large') this.forget()
    else {
      this.add({ id, request, evidence, response, faults, operation, caughtUp })
      const part = this.parts.at(-1)
      if (part === undefined) return
      response?.hold()
      part.bytes += request.target.length + (request.body?.length ?? 0)
    }
  }
}
