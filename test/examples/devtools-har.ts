import type { CDPSession } from '@playwright/test'
// @ts-expect-error the package has no types
import { harFromMessages } from 'chrome-har'

const EVENTS = [
  ...(['loadEventFired', 'domContentEventFired', 'frameStartedLoading', 'frameAttached'] as const).map(
    (name) => `Page.${name}` as const,
  ),
  ...(['requestWillBeSent', 'responseReceived', 'dataReceived', 'loadingFinished'] as const).map(
    (name) => `Network.${name}` as const,
  ),
  ...(['requestServedFromCache', 'loadingFailed', 'responseReceivedExtraInfo'] as const).map(
    (name) => `Network.${name}` as const,
  ),
]

/** Records a page as the network tab of Chromium exports it, from the events of its protocol. The result writes the HAR. */
export async function devtoolsRecording(session: CDPSession): Promise<() => Promise<string>> {
  const messages: { method: string; params: object }[] = []
  const bodies: Promise<unknown>[] = []
  const responses = new Map<string, object>()
  for (const method of EVENTS) session.on(method, (params: object) => void messages.push({ method, params }))
  session.on('Network.responseReceived', ({ requestId, response }) => responses.set(requestId, response))
  session.on('Network.loadingFinished', ({ requestId }) => {
    const found = session.send('Network.getResponseBody', { requestId })
    bodies.push(
      found.then(
        ({ body, base64Encoded }) =>
          Object.assign(responses.get(requestId) ?? {}, {
            body,
            ...(base64Encoded && { encoding: 'base64' }),
          }),
        // The body of a preflight or of a page that was left is gone.
        () => undefined,
      ),
    )
  })
  for (const domain of ['Page', 'Network'] as const) await session.send(`${domain}.enable`)
  return async () => {
    await Promise.all(bodies)
    return JSON.stringify(harFromMessages(messages, { includeTextFromResponseBody: true }))
  }
}
