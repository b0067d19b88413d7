import type { IncomingMessage, ServerResponse } from 'node:http'
import { allOf } from '../../../core/faults/actions.ts'
import type { Sent } from '../../../core/faults/decision.ts'
import { stopsOf } from '../../../core/faults/stops.ts'
import type { Answer, Wire } from '../../../core/request/answer.ts'
import type { HeaderPair } from '../guard.ts'
import { Delivery } from './delivery.ts'
import { lost } from './halt.ts'
import { messageOf } from './message.ts'
import { longest, paceOf } from './pace.ts'
import { firstStop } from './stop.ts'
import { Vigil } from './vigil.ts'

export { cutAccepted } from './accept.ts'
export { Reception } from './reception.ts'

/**
 * Sends an answer as the faults in it will have it, and tells how far it came. Resolves when the exchange is over: for one
 * that is held open, when the client has left, `released` or `closing` is aborted, or the longest time of the fault is over.
 */
export async function sendFaulted(
  req: IncomingMessage,
  res: ServerResponse,
  answer: Answer & { readonly wire: Wire },
  extra: readonly HeaderPair[],
  withBody: boolean,
  { closing }: { readonly closing: AbortSignal },
): Promise<void> {
  const { wire, durable } = answer
  const pace = paceOf(allOf(wire.actions, 'pace'))
  const limit = longest(pace)
  // What was waited before the handler is part of it.
  const left = limit - Math.min(pace.before_handler_ms ?? 0, limit)
  const vigil = new Vigil(req.socket, [wire.released, closing], left)
  let sent: Sent | undefined
  const report = (each: Sent): void => {
    sent = each
    wire.report(each)
  }
  try {
    const goesOn = (await vigil.until(durable)) && (await vigil.until(wire.hold?.()))
    if (!goesOn) return report({ stage: 'after-handler', bytes: 0, end: lost(vigil) })
    const http10 = req.httpVersion === '1.0'
    const whole = await messageOf(answer, extra, { withBody, http10, keepAlive: res.shouldKeepAlive })
    const stop = firstStop(stopsOf(wire.actions), whole.body, whole.framing.mode === 'chunked')
    // Behind a response that is done, Node would go on with the next request, or end the connection.
    const message = stop?.stage === 'end' ? { ...whole, raw: true } : whole
    await new Delivery(res, { message, pace, stop, vigil, closing, report }).run()
  } finally {
    vigil.end()
    // Where something has failed that the answer had to wait for, nobody is told but the log.
    if (sent === undefined) report({ stage: 'after-handler', bytes: 0, end: 'cut' })
  }
}
