import type { CDPSession } from '@playwright/test'

// biome-ignore lint/suspicious/noExplicitAny: events of the protocol of Chromium, of which a few fields are read.
type Event = any

/** Records a page as the network tab of Chromium exports it, from the events of its protocol. The result writes the HAR. */
export async function devtoolsRecording(session: CDPSession): Promise<() => Promise<string>> {
  const entries = new Map<string, Event>()
  const bodies: Promise<unknown>[] = []
  session.on('Network.requestWillBeSent', ({ requestId, request, wallTime, timestamp }: Event) => {
    entries.set(requestId, { request, wallTime, timestamp, end: timestamp })
  })
  session.on('Network.responseReceived', ({ requestId, response }: Event) => {
    Object.assign(entries.get(requestId) ?? {}, { response })
  })
  session.on('Network.loadingFinished', ({ requestId, timestamp }: Event) => {
    const entry = entries.get(requestId)
    if (entry === undefined) return
    entry.end = timestamp
    const body = session.send('Network.getResponseBody', { requestId })
    // The body of a preflight or of a page that was left is gone.
    bodies.push(body.then((content) => Object.assign(entry, { content })).catch(() => undefined))
  })
  await session.send('Network.enable')
  const pairs = (headers: object = {}) => Object.entries(headers).map(([name, value]) => ({ name, value }))
  return async () => {
    await Promise.all(bodies)
    const complete = [...entries.values()].filter(({ response }) => response !== undefined)
    return JSON.stringify({
      log: {
        version: '1.2',
        creator: { name: 'WebInspector', version: '537.36' },
        pages: [],
        entries: complete.map(({ request, response, content, wallTime, timestamp, end }) => ({
          _priority: 'High',
          _resourceType: 'fetch',
          startedDateTime: new Date(wallTime * 1000).toISOString(),
          time: (end - timestamp) * 1000,
          request: {
            ...{
              method: request.method,
              url: request.url,
              httpVersion: 'http/1.1',
              headers: pairs(request.headers),
            },
            ...(request.postData && { postData: { mimeType: 'application/json', text: request.postData } }),
          },
          response: {
            ...{ status: response.status, statusText: response.statusText, headers: pairs(response.headers) },
            content: {
              ...{ size: response.encodedDataLength, mimeType: response.mimeType },
              ...(content && { text: content.body, ...(content.base64Encoded && { encoding: 'base64' }) }),
            },
          },
        })),
      },
    })
  }
}
