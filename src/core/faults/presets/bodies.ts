import type { Preset } from '../preset.ts'
import { onceIn } from './once.ts'

const once = onceIn('body')

/** Bodies that a parser chokes on. The request takes effect, unless the sentence says otherwise. */
export const bodyPresets: readonly Preset[] = [
  once('empty-json-body', 'A success that calls itself JSON and has no body.', [
    { body: { text: '', type: 'application/json; charset=utf-8' } },
  ]),
  once('html-error-page', 'A 502 page of HTML from a proxy in front; the request takes no effect.', [
    { respond: { status: 502, proxy: true, body: '' } },
    { body: { fixture: 'html-error' } },
  ]),
  once(
    'html-with-200',
    'A 200 with a page to log in, as captive portals send it; the request takes no effect.',
    [{ respond: { status: 200, proxy: true, body: '' } }, { body: { fixture: 'html-login' } }],
  ),
  once('malformed-json', 'A body that calls itself JSON and has a syntax error.', [
    { body: { text: '{"object": "list", "data": [,]}', type: 'application/json; charset=utf-8' } },
  ]),
  once('truncated-json', 'Half of the JSON, with a Content-Length that agrees.', [
    { body: { truncate: { fraction: 0.5 } } },
  ]),
  once('byte-order-mark', 'A byte order mark in front of the JSON.', [{ body: { prefix_b64: '77u/' } }]),
  once('unknown-field', 'An object with a member that the client does not know.', [
    { body: { patch: { added_in_a_later_version: { enabled: true } } } },
  ]),
]
