import type { BatchBody } from 'agent-workspace-emulator'

/** What a client gets from its program: the address, the key, and the functions of the host that a test replaces. */
export interface Service {
  readonly baseUrl: string
  readonly apiKey: string
  /** Waits like `setTimeout`: NaN, a negative number and a number beyond 2^31 - 1 are one millisecond. */
  sleep(ms: number): Promise<void>
  /** Milliseconds since the epoch. */
  now(): number
  /** A number from 0 up to 1. */
  random(): number
  /** Real milliseconds after which the client gives up one attempt. */
  readonly timeout: number
}

/** What the program asks of the client. Each client uses a part of it. */
export interface Input {
  /** A page to create. */
  readonly name: string
  /** A batch to create, and the key of the program for it. */
  readonly batch: BatchBody
  readonly key: string
  /** A batch that exists. */
  readonly id: string
}

/** The one function of every client in the folder `clients`. */
export type Run = (service: Service, input: Input) => Promise<unknown>
