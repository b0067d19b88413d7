import { DEFAULT_SANDBOX } from '../../../core/sandboxes/name.ts'
import { EmulatorError } from './emulator-error.ts'

/** One call of the control interface, whatever carries it there. */
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

/** Carries calls to an emulator: over HTTP, or in the process. Rejects only where no response came back. */
export type Transport = (call: ControlCall) => Promise<ControlResponse>

/** What stands before every path of a sandbox: nothing for the default one. */
export function prefixOf(sandbox: string | undefined): string {
  return sandbox === undefined || sandbox === DEFAULT_SANDBOX ? '' : `/@${sandbox}`
}

/** Where the API of a sandbox is. */
export function apiPath(sandbox?: string): string {
  return `${prefixOf(sandbox)}/v1`
}

/** Where the control interface of a sandbox is. */
export function controlPath(sandbox?: string): string {
  return `${prefixOf(sandbox)}/__emulator`
}

/**
 * A value as the JSON text that carries it to the emulator; undefined where there is none, as of a function. Throws an
 * {@link EmulatorError} of the code `validation_failed` for a value that JSON cannot say.
 */
export function jsonText(value: unknown): string | undefined {
  try {
    return JSON.stringify(value)
  } catch (error) {
    throw new EmulatorError(
      {
        status: 400,
        code: 'validation_failed',
        detail: `What was given cannot be written as JSON: ${sentenceOf(error)}.`,
        mitigation:
          'Give objects, arrays, texts, finite numbers, booleans and null, without a circle among them.',
      },
      { cause: error },
    )
  }
}

// The engine draws the circle on further lines.
function sentenceOf(error: unknown): string {
  return error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error)
}
