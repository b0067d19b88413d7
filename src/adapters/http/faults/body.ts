import { promisify } from 'node:util'
import { brotliCompress, gzip } from 'node:zlib'
import type { BodyFault } from '../../../core/faults/actions.ts'
import type { Json } from '../../../core/json.ts'
import { mergePatch } from '../../../core/json.ts'
import { READY_BODIES } from './bodies.ts'
import { type Draft, withHeader } from './draft.ts'
import { offsetOf } from './place.ts'
import { splice } from './splice.ts'

const JSON_TYPE = 'application/json; charset=utf-8'
const TEXT_TYPE = 'text/plain; charset=utf-8'

/** Changes the body, one member of the fault after the other. Those about JSON go for every line of an NDJSON body. */
export async function withBody(draft: Draft, fault: BodyFault): Promise<Draft> {
  let next = draft
  for (const change of CHANGES) next = await change(next, fault)
  return next
}

type Change = (draft: Draft, fault: BodyFault) => Draft | Promise<Draft>

const CHANGES: readonly Change[] = [
  patched,
  nulled,
  replaced,
  typed,
  enveloped,
  numbered,
  prefixed,
  truncated,
  encoded,
]

function patched(draft: Draft, { patch }: BodyFault): Draft {
  if (patch === undefined) return draft
  return overJson(draft, (text) => JSON.stringify(mergePatch(parsed(text), patch)))
}

function nulled(draft: Draft, { nulls }: BodyFault): Draft {
  if (nulls === undefined) return draft
  return overJson(draft, (text) => {
    return parsed(text) === undefined ? text : nulls.reduce((text, at) => splice(text, at, 'null'), text)
  })
}

function replaced(draft: Draft, { text, base64, fixture }: BodyFault): Draft {
  if (text !== undefined) return { ...typedAs(draft, TEXT_TYPE), body: Buffer.from(text), ndjson: false }
  if (base64 !== undefined) return { ...draft, body: Buffer.from(base64, 'base64'), ndjson: false }
  if (fixture === undefined) return draft
  const ready = READY_BODIES[fixture]
  return { ...typedAs(draft, ready.type), body: Buffer.from(ready.text), ndjson: false }
}

function typed(draft: Draft, { type }: BodyFault): Draft {
  return typedAs(draft, type)
}

function enveloped(draft: Draft, { envelope }: BodyFault): Draft {
  if (envelope === undefined) return draft
  const wrap = (text: string) => (parsed(text) === undefined ? JSON.stringify(text) : text.trim())
  return overJson(draft, (text) => `{${JSON.stringify(envelope)}:${wrap(text)}}`)
}

function numbered(draft: Draft, { raw_number }: BodyFault): Draft {
  if (raw_number === undefined || draft.body === undefined) return draft
  const { pointer, digits } = raw_number
  return overJson(draft, (text) => (parsed(text) === undefined ? text : splice(text, pointer, digits)))
}

function prefixed(draft: Draft, { prefix_b64 }: BodyFault): Draft {
  if (prefix_b64 === undefined) return draft
  return { ...draft, body: Buffer.concat([Buffer.from(prefix_b64, 'base64'), draft.body ?? NOTHING]) }
}

function truncated(draft: Draft, { truncate }: BodyFault): Draft {
  if (truncate === undefined || draft.body === undefined) return draft
  return { ...draft, body: draft.body.subarray(0, offsetOf(truncate, draft.body)) }
}

async function encoded(draft: Draft, { encode }: BodyFault): Promise<Draft> {
  if (encode === undefined) return draft
  const compress = encode === 'gzip' ? promisify(gzip) : promisify(brotliCompress)
  const headers = withHeader(draft.headers, 'Content-Encoding', encode)
  return { ...draft, headers, body: await compress(draft.body ?? NOTHING) }
}

const NOTHING = Buffer.alloc(0)

function overJson(draft: Draft, change: (text: string) => string): Draft {
  const text = draft.body?.toString() ?? ''
  if (!draft.ndjson) {
    const hasType = draft.headers.some(([name]) => name.toLowerCase() === 'content-type')
    return { ...(hasType ? draft : typedAs(draft, JSON_TYPE)), body: Buffer.from(change(text)) }
  }
  return { ...draft, body: Buffer.from(text.replaceAll(/[^\r\n]+/g, change)) }
}

function typedAs(draft: Draft, type: string | undefined): Draft {
  return type === undefined ? draft : { ...draft, headers: withHeader(draft.headers, 'Content-Type', type) }
}

// To a merge patch, what is no JSON is the same as nothing: no object.
function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json
  } catch {
    return undefined
  }
}
