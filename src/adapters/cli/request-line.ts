import { printable } from './print.ts'

/** The fields of a request that its line shows. */
export interface LinedRequest {
  readonly id: string
  /** Virtual instant. */
  readonly at: string
  readonly method: string
  readonly path: string
  /** 0 for a request that was cut off. */
  readonly status: number
  readonly sandbox: string
  /** Real milliseconds; null where they are not known. */
  readonly ms: number | null
  /** Ids of the fault rules that fired. */
  readonly faults: readonly string[]
}

const [GREEN, CYAN, YELLOW, RED] = [32, 36, 33, 31]

/** A request on one line. The id is last, for the command `explain`. @param colours whether the status is coloured */
export function requestLine(request: LinedRequest, colours: boolean): string {
  const { id, at, status, ms, sandbox, faults } = request
  const parts = [
    at,
    colours ? `\u001b[${colourOf(status)}m${statusText(status)}\u001b[39m` : statusText(status),
    printable(`${request.method} ${request.path}`),
    ...(sandbox === 'default' ? [] : [`@${sandbox}`]),
    ...(ms === null ? [] : [`${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms`]),
    ...(faults.length === 0 ? [] : [printable(`fault ${faults.join(', ')}`)]),
    id,
  ]
  return parts.join('  ')
}

/** Whether a request with this status failed (400 or more) or was cut off (0). */
export function isFailure(status: number): boolean {
  return status === 0 || status >= 400
}

function statusText(status: number): string {
  return status === 0 ? 'cut' : String(status)
}

function colourOf(status: number): number {
  if (status === 0 || status >= 500) return RED
  if (status >= 400) return YELLOW
  return status >= 300 ? CYAN : GREEN
}
