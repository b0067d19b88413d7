import type { BatchBody } from 'agent-workspace-emulator'

/** The address, the key, and the functions of the host that a test replaces. */
export interface Host {
  readonly baseUrl: string
  readonly apiKey: string
  /** Waits like `setTimeout`: NaN, a negative number and a number beyond 2^31 - 1 are one millisecond. */
  sleep(ms: number): Promise<void>
  now(): number
  random(): number
  /** Real milliseconds after which the client gives up one attempt. */
  readonly timeout: number
}

export interface Service extends Host {
  /** Sends a request with the key. The path is below the address. */
  get(path: string): Promise<Response>
  post(path: string, json: unknown, headers?: Readonly<Record<string, string>>): Promise<Response>
}

/** What the program asks of the client. Each client uses a part of it. */
export interface Input {
  readonly name: string
  readonly batch: BatchBody
  readonly key: string
  readonly id: string
}

export type Run = (service: Service, input: Input) => Promise<unknown>

export function callsOf({
  baseUrl,
  apiKey,
}: Pick<Host, 'baseUrl' | 'apiKey'>): Pick<Service, 'get' | 'post'> {
  const own = { Authorization: `Bearer ${apiKey}` }
  const typed = { ...own, 'Content-Type': 'application/json' }
  return {
    get: (path) => fetch(baseUrl + path, { headers: own }),
    post: (path, json, headers) =>
      fetch(baseUrl + path, {
        method: 'POST',
        headers: { ...typed, ...headers },
        body: JSON.stringify(json),
      }),
  }
}
