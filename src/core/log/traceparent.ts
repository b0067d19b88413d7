import type { Chance } from '../random.ts'

/** The header `traceparent` of W3C Trace Context: version, id of the trace, id of the parent, flags. */
export const TRACEPARENT = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/

/** The value of a header, if it is valid: others are ignored, as its standard says. */
export function validTraceparent(value: string | undefined): string | undefined {
  return value !== undefined && TRACEPARENT.test(value) ? value : undefined
}

/** The trace that a request belongs to, as a field; empty without a valid header. */
export function traceIn(headers: Readonly<Record<string, string | undefined>>): { readonly trace?: string } {
  const trace = validTraceparent(headers.traceparent)?.split('-')[1]
  return trace === undefined ? {} : { trace }
}

/** The header for a request that another one has caused: the same trace, with a new parent. */
export function childOf(traceparent: string, chance: Chance): string {
  const [version, trace, , flags] = traceparent.split('-')
  const parent = Array.from({ length: 16 }, (_, n) => chance.int(n === 0 ? 1 : 0, 15).toString(16)).join('')
  return [version, trace, parent, flags].join('-')
}
