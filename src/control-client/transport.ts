import { DEFAULT_SANDBOX } from '../core/sandboxes/name.ts'
import { EmulatorError } from './emulator-error.ts'

/** One call of the control interface, for any transport. */
export interface ControlCall {
  /** Method and path template below `/__emulator`: `POST /batches/{id}/fail`. */
  readonly route: string
  /** The values of the names in the template. */
  readonly params?: Readonly<Record<string, string>> | undefined
  readonly query?: Readonly<Record<string, string>> | undefined
  /** JSON. */
  readonly body?: unknown
  /** Entity tag that the record must still have; the call is refused with 412 otherwise. */
  readonly ifMatch?: string | undefined
  /** The sandbox that the call is about; absent: the default one. */
  readonly sandbox?: string | undefined
  /** Aborted when the caller does not wait any more. */
  readonly signal?: AbortSignal | undefined
}

/** A response of the control interface, refusals included. */
export interface ControlResponse {
  readonly status: number
  /** JSON; undefined where there is none. */
  readonly body: unknown
  /** The entity tag of the record that the body shows. */
  readonly etag?: string | undefined
}

/** Sends calls to an emulator: over HTTP, or inside the process. Rejects only if there is no response. */
export type Transport = (call: ControlCall) => Promise<ControlResponse>

/** The global `fetch` of when the library was imported: a test may replace it with a mock later, which would answer for the emulator. */
export const { fetch: realFetch } = globalThis

/** The prefix of every path of a sandbox: `/@name`, or empty for the default one. */
export function prefixOf(sandbox: string | undefined): string {
  return sandbox === undefined || sandbox === DEFAULT_SANDBOX ? '' : `/@${sandbox}`
}

/** The base path of the API of a sandbox: `/v1`, or `/@name/v1`. */
export function apiPath(sandbox?: string): string {
  return `${prefixOf(sandbox)}/v1`
}

/** The base path of the control interface of a sandbox: `/__emulator`, or `/@name/__emulator`. */
export function controlPath(sandbox?: string): string {
  return `${prefixOf(sandbox)}/__emulator`
}

/**
 * A value as JSON text; undefined for a value without JSON, such as a function. Throws an {@link EmulatorError} with the code
 * `validation_failed` for a value that JSON cannot contain, such as a circular object.
 */
export function jsonText(value: unknown): string | undefined {
  try {
    return JSON.stringify(value)
  } catch (error) {
    throw new EmulatorError(
      {
        status: 400,
        code: 'validation_failed',
        detail: `The value cannot be written as JSON: ${sentenceOf(error)}.`,
        mitigation:
          'Give objects, arrays, strings, finite numbers, booleans and null, without circular references.',
      },
      { cause: error },
    )
  }
}

// The JavaScript engine describes a circular path on further lines.
function sentenceOf(error: unknown): string {
  return error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error)
}
