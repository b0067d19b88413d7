import type { BatchBody } from 'agent-workspace-emulator'

/** What a client gets from its program: the address, the key, and the functions of the host that a test replaces. */
export interface Service {
  readonly baseUrl: string
  readonly apiKey: string
  /** Waits like `setTimeout`: NaN, a negative number and a number beyond 2^31 - 1 are one millisecond. */
  sleep(ms: number): Promise<void>
  now(): number
  random(): number
  /** Real milliseconds after which the client gives up one attempt. */
  readonly timeout: number
}

/** What the program asks of the client. Each client uses a part of it. */
export interface Input {
  readonly name: string
  readonly batch: BatchBody
  readonly key: string
  readonly id: string
}

/** The one function of every client in the folder `clients`. */
export type Run = (service: Service, input: Input) => Promise<unknown>
