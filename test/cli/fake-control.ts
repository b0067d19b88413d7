import { serving } from '../support/http-server.ts'

/** A control interface with one fixed response, and the requests that it received. */
export interface FakeControl {
  readonly url: string
  readonly asked: readonly {
    readonly method: string
    readonly path: string
    readonly body: string
  }[]
}

/** A control interface that responds to every request with one body, for shapes that are rare in a real one; a text is no JSON. */
export async function fakeControl(response: object | string, status = 200): Promise<FakeControl> {
  const asked: { method: string; path: string; body: string }[] = []
  const { port } = await serving(async (req, res) => {
    let body = ''
    for await (const chunk of req) body += chunk
    asked.push({ method: req.method ?? '', path: req.url ?? '', body })
    const isText = typeof response === 'string'
    res.writeHead(status, { 'content-type': isText ? 'text/html' : 'application/json' })
    res.end(isText ? response : JSON.stringify(response))
  })
  return { url: `http://127.0.0.1:${port}`, asked }
}
