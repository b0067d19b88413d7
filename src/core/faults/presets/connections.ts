import type { Preset } from '../preset.ts'
import { onceIn } from './once.ts'

const once = onceIn('connection')

/** What becomes of connections. The request has taken effect unless the sentence says otherwise. */
export const connectionPresets: readonly Preset[] = [
  once('fin-before-headers', 'The connection is closed in order before a byte of the answer.', [
    { cut: { at: 'before-head', how: 'fin' } },
  ]),
  once('rst-before-headers', 'The connection is reset before a byte of the answer.', [
    { cut: { at: 'before-head', how: 'rst' } },
  ]),
  once('cut-after-headers', 'The head of the answer arrives, then the connection is reset.', [
    { cut: { at: 'after-head', how: 'rst' } },
  ]),
  once('cut-mid-body', 'Half of the body arrives, then the connection is reset.', [
    { cut: { at: { fraction: 0.5 }, how: 'rst' } },
  ]),
  once(
    'chunked-truncated',
    'A chunked body arrives whole, but the connection is closed before the chunk that ends it.',
    [{ frame: { mode: 'chunked' } }, { cut: { at: 'before-last-chunk', how: 'fin' } }],
  ),
  once('content-length-too-long', 'Content-Length promises ten bytes that never come.', [
    { frame: { mode: 'length', length_delta: 10 } },
  ]),
  {
    name: 'stale-keepalive',
    family: 'connection',
    description:
      'The second request on a connection meets a reset, as when a server has closed an idle one; it takes no effect.',
    match: { connection_request_index: 2 },
    do: [{ cut: { at: 'before-read', how: 'rst' } }],
  },
  once('never-answers', 'The connection stays open and silent; the request takes no effect.', [
    { cut: { at: 'before-handler', how: 'pause' } },
  ]),
  once('stall-after-headers', 'The head of the answer arrives, then nothing more.', [
    { pace: { stall_at: 'after-head' } },
  ]),
  once('slow-drip', 'The body comes in pieces of 16 bytes, 50 ms apart, for ten seconds at most.', [
    { pace: { bytes: 16, gap_ms: 50, max_ms: 10_000 } },
  ]),
]
