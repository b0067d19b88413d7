import { onTestFinished } from 'vitest'
import type { Wire } from '../../src/core/faults/faulted-request.ts'
import type { Action } from '../../src/core/faults/primitive.ts'
import type { Sent } from '../../src/core/log/request-log.ts'
import type { ApiResponse } from '../../src/core/request/response.ts'
import { sendFaulted } from '../../src/server/http/faults/send.ts'
import { close, createHttpServer, listen } from '../../src/server/http/server.ts'
import { overSocket, requestBytes } from './wire-client.ts'

export interface Faulted extends Partial<ApiResponse> {
  /** The faults of the first response; later responses are sent without faults. */
  readonly actions?: readonly Action[]
  readonly hold?: Wire['hold']
  /** If true, all responses have the faults. */
  readonly always?: boolean
}

/** A server without a sandbox: each request gets the same response, with faults. Closed after the test. */
export async function faultedServer(faulted: Faulted = {}) {
  const { actions = [], hold, always = false, ...given } = faulted
  /** The reports of all responses with faults. */
  const sent: Sent[] = []
  const released = new AbortController()
  const closing = new AbortController()
  const failures: unknown[] = []
  let count = 0
  const response: ApiResponse = {
    status: 200,
    headers: [['Content-Type', 'application/json; charset=utf-8']],
    text: '{"ok":true}',
    lines: undefined,
    ...given,
  }
  const server = createHttpServer(
    (req, res) => {
      req.resume()
      const isFaulted = always || ++count === 1
      const report = (each: Sent) => sent.push(each)
      const wire = { actions: isFaulted ? actions : [], hold, releases: [released.signal], report }
      sendFaulted(req, res, response, wire, [['Vary', 'Origin']], req.method !== 'HEAD', {
        closing: closing.signal,
      }).catch((error) => failures.push(error))
    },
    { renderParserError: () => ({ headers: [], body: '' }), refuse: (_req, res) => res.destroy() },
  )
  const { port } = await listen(server, { port: 0, host: '127.0.0.1' })
  onTestFinished(async () => {
    closing.abort()
    await close(server, { graceful: false })
    if (failures.length > 0) throw failures[0]
  })
  return { port, sent, released, closing }
}

/** Whether a response is held open and everything that was sent of it has arrived. */
export function isHeld(sent: readonly Sent[], text: string): boolean {
  return sent.some(({ end, bytes }) => end === 'held' && bytes === text.length)
}

/** The bytes that a client receives for a response with these faults. */
export async function seen(
  faulted: Faulted,
  { method = 'GET', isEnough }: { readonly method?: string; readonly isEnough?: typeof isHeld } = {},
) {
  const { port, sent } = await faultedServer(faulted)
  const enough = isEnough === undefined ? undefined : (text: string) => isEnough(sent, text)
  const view = await overSocket(port, requestBytes({ method, path: '/' }), enough)
  const end = view.text.indexOf('\r\n\r\n')
  return { ...view, sent, head: view.text.slice(0, end), body: view.text.slice(end + 4) }
}
