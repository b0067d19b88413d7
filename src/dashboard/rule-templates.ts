import type { PrimitiveName } from '../core/faults/primitive.ts'

/** Some fields of a rule, as they are written. */
export type RulePart = Readonly<Record<string, unknown>>

const results = { operation: 'batch-predictions.results' }

/** A rule of each primitive, to be changed. Without `match`, it is about everything. */
export const TEMPLATES: Readonly<Record<PrimitiveName, RulePart>> = {
  respond: { do: [{ respond: { status: 503, headers: { 'Retry-After': '2' } } }] },
  quota: { do: [{ quota: { reject: true, remaining: 0, reset_in_s: 2 } }] },
  pace: { do: [{ pace: { before_head_ms: 500 } }] },
  cut: { do: [{ cut: { at: 'before-head', how: 'rst' } }] },
  head: { do: [{ head: { status: 200, set: { 'Content-Type': 'text/html' } } }] },
  body: { do: [{ body: { text: '<h1>Bad gateway</h1>', type: 'text/html' } }] },
  lines: { match: results, do: [{ lines: { drop: [0] } }] },
  frame: { do: [{ frame: { mode: 'length', length_delta: 10 } }] },
  raw: { do: [{ raw: { base64: btoa('not HTTP\r\n\r\n') } }] },
  idem: { match: { headers: { 'idempotency-key': '*' } }, do: [{ idem: { concurrent: true } }] },
  auth: { do: [{ auth: { expire_after_calls: 2 } }] },
  state: { match: { operation: 'batch-predictions.retrieve' }, do: [{ state: { batch: 'complete' } }] },
  clock: { do: [{ clock: { advance: '1h' } }] },
  gate: { do: [{ gate: { at: 'before-handler' } }] },
  deliver: { match: { webhook: '*' }, do: [{ deliver: { copies: 2 } }] },
  tomorrow: { do: [{ tomorrow: { only: ['field'] } }] },
}
