import { jsonText } from './json-text.ts'

/** One request to a control interface. */
export interface HttpRequest {
  readonly method: string
  readonly url: string
  readonly controlToken?: string | undefined
  /** JSON; absent: none is sent. */
  readonly body?: unknown
  readonly signal?: AbortSignal | undefined
  /** Default: the one of the platform. */
  readonly fetch?: typeof fetch | undefined
}

/** An answer, read to its end. */
export interface HttpAnswer {
  readonly status: number
  /** Undefined when there was none, or it was no JSON. */
  readonly body: unknown
  /** Whether a control token is missing or wrong. */
  readonly locked: boolean
}

/** Why there is no answer, in the words of the operating system: `ECONNREFUSED`, `TimeoutError`. */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer'
}

/** Sends one request and reads the answer. Throws {@link NoAnswer}, and an `EmulatorError` for a body that is no JSON. */
export async function sendJson(request: HttpRequest): Promise<HttpAnswer> {
  const { method, url, controlToken, signal, fetch = globalThis.fetch } = request
  const body = jsonText(request.body)
  try {
    const response = await fetch(url, {
      method,
      headers: headersOf({ controlToken, body }),
      ...(body === undefined ? {} : { body }),
      ...(signal === undefined ? {} : { signal }),
    })
    return { status: response.status, body: parsed(await response.text()), locked: isLocked(response) }
  } catch (error) {
    throw new NoAnswer(reasonOf(error), { cause: error })
  }
}

/** The headers that open the control interface and announce the body. */
export function headersOf({
  controlToken,
  body,
}: Pick<HttpRequest, 'controlToken' | 'body'>): Record<string, string> {
  return {
    ...(controlToken === undefined ? {} : { authorization: `Bearer ${controlToken}` }),
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
  }
}

/** Whether an answer says that a control token is missing or wrong. */
export function isLocked({ headers }: Response): boolean {
  return headers.get('www-authenticate')?.includes('realm="control"') === true
}

// fetch hides what the operating system said inside the cause, for hosts with several addresses one level deeper.
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const inner = error.cause instanceof AggregateError ? error.cause.errors[0] : error.cause
  if (inner instanceof Error) return 'code' in inner ? String(inner.code) : inner.message
  return error.name
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
