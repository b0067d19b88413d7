import { promisify } from 'node:util'
import { brotliCompress, gzip } from 'node:zlib'
import { z } from 'zod'
import type { ParametersOf } from '../../../core/faults/primitive.ts'
import { nonEmptyText } from '../../../core/fields.ts'
import { isPointer, type Json, mergePatch, parsedJson } from '../../../core/json.ts'
import { spliced } from '../../../core/json-text.ts'
import { json, someOf, strictObject } from '../../../core/strict-input.ts'
import { type Draft, withHeader } from './draft.ts'
import { anyText, base64, lineText } from './fields.ts'
import { bodyPosition, offsetOf } from './stage.ts'
import type { WirePrimitive } from './wire-primitive.ts'

/** Names of the built-in bodies, for the field `fixture` of the primitive `body`. */
const BODY_FIXTURES = ['html-error', 'html-gateway-timeout', 'html-login', 'empty'] as const

/** Changes the body of the response, step by step in the order of the fields here. */
export type BodyFault = ParametersOf<typeof schema>

function schema() {
  const digits = z
    .string()
    .max(1_000)
    .regex(/^-?\d+(\.\d+)?([eE][+-]?\d+)?$/, 'must be a JSON number')
  const pointer = () =>
    z.string().refine(isPointer, {
      error: 'must be a JSON Pointer, which begins with a slash, such as /counts/total',
    })
  return someOf({
    /** Default `apply`. `none`: the operation does not run, so that one of text, base64 and fixture is required. */
    effects: z.enum(['none', 'apply']).optional(),
    /** JSON Merge Patch over the body. */
    patch: json().optional(),
    /** JSON Pointers of fields that become null. A merge patch cannot do that: its null removes a field. */
    nulls: z.array(pointer()).min(1).max(100).optional(),
    /** Replaces the body. The Content-Type is text/plain unless `type` is given. */
    text: anyText().optional(),
    base64: base64().optional(),
    fixture: z.enum(BODY_FIXTURES).optional(),
    /** Content-Type. */
    type: lineText().optional(),
    /** Wraps the JSON body in a new object, as its field with this name. */
    envelope: nonEmptyText().optional(),
    /** Writes these digits unchanged at a JSON Pointer of the body, for numbers that no double can hold. */
    raw_number: strictObject({ pointer: pointer(), digits }).optional(),
    /** Bytes before the body. */
    prefix_b64: base64().optional(),
    /** Keeps the body up to this place. Without `frame`, the Content-Length is that of the kept part. */
    truncate: bodyPosition().optional(),
    /** Compresses the body and sets Content-Encoding. */
    encode: z.enum(['gzip', 'br']).optional(),
  }).superRefine((value, context) => {
    const instead = (['text', 'base64', 'fixture'] as const).filter((name) => value[name] !== undefined)
    if (instead.length > 1) {
      const message = `cannot be given together with ${instead[0]}: each replaces the whole body`
      context.addIssue({ code: 'custom', path: [instead[1] ?? ''], message })
    }
    if (value.effects !== 'none' || instead.length > 0) return
    const message = 'needs one of text, base64 and fixture: without its effect the operation has no response'
    context.addIssue({ code: 'custom', path: ['effects'], message })
  })
}

export const body: WirePrimitive<'body', typeof schema> = {
  name: 'body',
  kind: 'wire',
  description:
    'nulls, unknown fields, other types, byte order marks, large numbers, encodings, truncated bodies',
  schema,
  example: { parameters: { text: '<h1>Bad gateway</h1>', type: 'text/html' } },
  replacesHandler: (all) => all.some(({ effects }) => effects === 'none'),
  effect: { body: withBody },
}

const JSON_TYPE = 'application/json; charset=utf-8'
const TEXT_TYPE = 'text/plain; charset=utf-8'
const HTML = 'text/html; charset=utf-8'

/** Their texts and types. Undefined: the Content-Type of the response stays. */
const READY_BODIES: Readonly<
  Record<(typeof BODY_FIXTURES)[number], { readonly type: string | undefined; readonly text: string }>
> = {
  'html-error': { type: HTML, text: gatewayPage('502 Bad Gateway') },
  'html-gateway-timeout': { type: HTML, text: gatewayPage('504 Gateway Timeout') },
  'html-login': {
    type: HTML,
    text: `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Sign in</title></head>
<body>
<h1>Sign in to continue</h1>
<p>This network asks you to sign in before you go on.</p>
<form method="post" action="/login">
<label>Name <input name="name"></label>
<label>Password <input name="password" type="password"></label>
<button>Sign in</button>
</form>
</body>
</html>
`,
  },
  empty: { type: undefined, text: '' },
}

function gatewayPage(title: string): string {
  return `<!doctype html>
<html>
<head><title>${title}</title></head>
<body>
<center><h1>${title}</h1></center>
<hr><center>gateway</center>
</body>
</html>
`
}

/** Changes the body, one field of the fault after the other. Fields about JSON apply to every line of an NDJSON body. */
async function withBody(draft: Draft, fault: BodyFault): Promise<Draft> {
  const { patch, nulls = [], envelope, raw_number, prefix_b64, truncate, encode } = fault
  let next = draft
  if (patch !== undefined) {
    // A merge patch treats a text that is not JSON like every other value that is not an object.
    const patched = (text: string) => mergePatch(parsedJson(text) as Json | undefined, patch)
    next = overJson(next, (text) => JSON.stringify(patched(text)))
  }
  for (const place of nulls) next = overJson(next, (text) => spliced(text, place, 'null'))
  next = typedAs(replaced(next, fault), fault.type)
  if (envelope !== undefined) {
    const wrap = (text: string) => (parsedJson(text) === undefined ? JSON.stringify(text) : text.trim())
    next = overJson(next, (text) => `{${JSON.stringify(envelope)}:${wrap(text)}}`)
  }
  if (raw_number !== undefined && next.body !== undefined)
    next = overJson(next, (text) => spliced(text, raw_number.pointer, raw_number.digits))
  let { body } = next
  if (prefix_b64 !== undefined) body = Buffer.concat([Buffer.from(prefix_b64, 'base64'), body ?? NOTHING])
  if (truncate !== undefined) body = body?.subarray(0, offsetOf(truncate, body))
  if (encode === undefined) return { ...next, body }
  const compress = encode === 'gzip' ? promisify(gzip) : promisify(brotliCompress)
  const headers = withHeader(next.headers, 'Content-Encoding', encode)
  return { ...next, headers, body: await compress(body ?? NOTHING) }
}

function replaced(draft: Draft, { text, base64, fixture }: BodyFault): Draft {
  if (text !== undefined) return { ...typedAs(draft, TEXT_TYPE), body: Buffer.from(text), ndjson: false }
  if (base64 !== undefined) return { ...draft, body: Buffer.from(base64, 'base64'), ndjson: false }
  if (fixture === undefined) return draft
  const ready = READY_BODIES[fixture]
  return { ...typedAs(draft, ready.type), body: Buffer.from(ready.text), ndjson: false }
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
