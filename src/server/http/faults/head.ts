import { STATUS_CODES } from 'node:http'
import { z } from 'zod'
import type { ParametersOf } from '../../../core/faults/primitive.ts'
import { intBetween } from '../../../core/fields.ts'
import { someOf, strictObject } from '../../../core/strict-input.ts'
import type { HeaderPair } from '../guard.ts'
import { type Head, withHeader, withoutHeader } from './draft.ts'
import { lineHeaders, lineName, lineText } from './fields.ts'
import type { WirePrimitive } from './wire-primitive.ts'

/** Changes the head of the response. */
export type HeadFault = ParametersOf<typeof schema>

function schema() {
  const interim = strictObject({
    status: intBetween(100, 199).refine((status) => status !== 101, {
      error: 'must not be 101, which ends HTTP on the connection',
    }),
    headers: lineHeaders().optional(),
  })
  return someOf({
    status: intBetween(200, 999).optional(),
    /** Reason phrase. */
    reason: lineText().optional(),
    version: z.enum(['1.0', '1.1']).optional(),
    /** Sets headers in any letter case; each replaces one of the same name. */
    set: lineHeaders().optional(),
    remove: z.array(lineName()).max(100).optional(),
    /** Pairs added after our own headers, unchanged: letter case and repetitions are kept. */
    raw: z
      .array(z.tuple([lineName(), lineText()]))
      .max(100)
      .optional(),
    /** The letter case of our own header names. */
    case: z.enum(['lower', 'upper']).optional(),
    /** Informational responses before it: status 100 to 199. */
    interim: z.array(interim).max(100).optional(),
  })
}

const MAX_FETCH_STATUS = 599

export const head: WirePrimitive<'head', typeof schema> = {
  name: 'head',
  kind: 'wire',
  description: 'statuses, reason phrases, versions, headers and their letter case, earlier 1xx responses',
  schema,
  example: { parameters: { status: 200, set: { 'Content-Type': 'text/html' } } },
  onlyOnSockets: ({ status = 200, version, case: letters, interim }) => {
    if (status > MAX_FETCH_STATUS) return ['status', `a Response has a status of at most ${MAX_FETCH_STATUS}`]
    if (version !== undefined) return ['version', 'a Response has no HTTP version']
    if (letters !== undefined) return ['case', 'the names in Headers are always lower case']
    return interim && ['interim', 'it gives only the final response']
  },
  effect: { head: withHead },
}

// `case` changes only our own names: headers that the fault sets keep their letter case.
function withHead(head: Head, fault: HeadFault): Head {
  const {
    status = head.status,
    version = head.version,
    remove = [],
    set = {},
    raw = [],
    interim = [],
  } = fault
  let headers = head.headers.map(([name, value]): HeaderPair => [inCase(name, fault.case), value])
  for (const name of remove) headers = withoutHeader(headers, name)
  for (const [name, value] of Object.entries(set)) headers = withHeader(headers, name, value)
  const added = interim.map((each) => ({ status: each.status, headers: Object.entries(each.headers ?? {}) }))
  return {
    status,
    reason: fault.reason ?? (status === head.status ? head.reason : (STATUS_CODES[status] ?? '')),
    version,
    headers: [...headers, ...raw],
    interim: [...head.interim, ...added],
  }
}

function inCase(name: string, wanted: HeadFault['case']): string {
  if (wanted === undefined) return name
  return wanted === 'lower' ? name.toLowerCase() : name.toUpperCase()
}
