import { z } from 'zod'
import { durationUpTo, type ShapeOf } from '../fields.ts'
import type { Json } from '../json.ts'
import { json, strictObject } from '../strict-input.ts'
import { parseDuration } from '../time/instant.ts'

/** The maximum number of parts of one stream, and of bytes of all of them. */
const MAX_PARTS = 10_000
const MAX_STREAM_BYTES = 10_000_000

/** Maximum pause before a part: that of one timer. */
const MAX_PAUSE = '1h'

// Only functions can return bytes, so the type of what users write as data does not have them.
const bytes = () => z.instanceof(Uint8Array) as z.ZodType as z.ZodType<Json, Json>

const part = () =>
  strictObject({
    /** The type of a server-sent event. */
    event: z
      .string()
      .regex(/^[^\r\n]{1,200}$/, 'must be one line of at most 200 characters')
      .optional(),
    data: z.union([json(), bytes()]),
    /** The pause before the part: `250ms`. */
    after: durationUpTo(MAX_PAUSE).optional(),
  })

const parts = () => z.array(part()).max(MAX_PARTS).optional()

const shape = () =>
  strictObject({
    /** Server-sent events: a text as it is, any other value as JSON. */
    events: parts(),
    /** NDJSON: each value is a line. */
    lines: parts(),
    /** Texts or bytes. */
    chunks: parts(),
    /** The clock of the pauses. Default `real`: real time if the clock of the sandbox runs, no pauses if it is frozen. */
    clock: z.enum(['real', 'virtual']).optional(),
  })

export type StreamDraft = ShapeOf<typeof shape>

/** A response that is sent in parts, as users write it. */
export const streamDraft = () =>
  shape()
    .refine((draft) => FORMS.filter((form) => draft[form] !== undefined).length === 1, {
      error: 'must have exactly one of events, lines and chunks',
    })
    .refine(
      (draft) => streamOf(draft).parts.reduce((sum, { bytes }) => sum + bytes.length, 0) <= MAX_STREAM_BYTES,
      {
        error: `must have at most ${MAX_STREAM_BYTES} bytes`,
      },
    )

/** A response in parts, ready to be sent. `after`: milliseconds before the part. */
export interface StreamBody {
  readonly parts: readonly { readonly bytes: Buffer; readonly after: number }[]
  readonly clock: 'real' | 'virtual'
  /** Content-Type. */
  readonly type: string
}

const FORMS = ['events', 'lines', 'chunks'] as const

const TYPES = {
  events: 'text/event-stream; charset=utf-8',
  lines: 'application/x-ndjson',
  chunks: 'text/plain; charset=utf-8',
}

/** The bytes of a stream whose draft has been checked. */
export function streamOf(draft: StreamDraft): StreamBody {
  const form = FORMS.find((each) => draft[each] !== undefined) ?? 'chunks'
  const parts = (draft[form] ?? []).map((each) => ({
    bytes: bytesIn(form, each),
    after: parseDuration(each.after ?? '0ms') ?? 0,
  }))
  return { parts, clock: draft.clock ?? 'real', type: TYPES[form] }
}

function bytesIn(form: (typeof FORMS)[number], { event, data }: ShapeOf<typeof part>): Buffer {
  if ((data as unknown) instanceof Uint8Array) return Buffer.from(data as unknown as Uint8Array)
  if (form === 'lines') return Buffer.from(`${JSON.stringify(data)}\n`)
  const text = typeof data === 'string' ? data : JSON.stringify(data)
  if (form === 'chunks') return Buffer.from(text)
  const lines = text.split(/\r\n|\n|\r/).map((line) => `data: ${line}\n`)
  return Buffer.from(`${event === undefined ? '' : `event: ${event}\n`}${lines.join('')}\n`)
}
