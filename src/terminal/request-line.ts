import type { OwnCalls } from '../control-client/ask.ts'
import { type Line, styled } from './line.ts'
import { statusCell } from './print.ts'

type Entry = OwnCalls['GET /requests']['output']['data'][number]

/** The fields of a request that its line shows. */
export interface LinedRequest
  extends Pick<Entry, 'id' | 'at' | 'method' | 'path' | 'status' | 'sandbox' | 'faults' | 'tomorrow'> {
  /** Real milliseconds; null where they are not known. */
  readonly ms: number | null
  /** Id of its trace. */
  readonly trace?: string | undefined
  /** Present if a web page sent it and cannot read the response. */
  readonly cors?: Omit<NonNullable<Entry['cors']>, 'preflight'> | undefined
}

/**
 * A request on one line; on a second line, why its page cannot read the response. The id is last in the first line, for the
 * command `explain`.
 */
export function requestLines(request: LinedRequest): Line[] {
  const { id, at, status, ms, sandbox, faults, trace, cors } = request
  const rest = [
    `${request.method} ${request.path}`,
    ...(sandbox === 'default' ? [] : [`@${sandbox}`]),
    ...(ms === null ? [] : [`${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms`]),
    ...(faults.length === 0 ? [] : [`fault ${faults.join(', ')}`]),
    ...(request.tomorrow === undefined ? [] : [`tomorrow ${request.tomorrow.join(', ')}`]),
    ...(trace === undefined ? [] : [`trace ${trace}`]),
    id,
  ]
  const line = [`${at}  `, statusCell(status), `  ${rest.join('  ')}`]
  return cors === undefined ? [line] : [line, styled('yellow', `  ${cors.detail} ${cors.mitigation}`)]
}

/** Whether a request failed (status 400 or more), was cut off (0), or was sent by a page that cannot read its response. */
export function isFailure({ status, cors }: Pick<LinedRequest, 'status' | 'cors'>): boolean {
  return status === 0 || status >= 400 || cors !== undefined
}

/** The values of the columns that a table of requests can have. */
export function rowOf({ error, cors, caller, faults, changed, assumed, ...entry }: Entry) {
  return {
    ...entry,
    request: `${entry.method} ${entry.path}`,
    error: error?.code ?? (cors && 'blocked by CORS'),
    key: caller?.key_id,
    faults: faults.join(' '),
    changed: changed.join(' '),
    assumed: assumed.join(' '),
  }
}
