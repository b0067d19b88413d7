import { serving } from '../support/http-server.ts'

export interface FakeControl {
  readonly url: string
  readonly asked: readonly {
    readonly method: string
    readonly path: string
    readonly body: string
  }[]
}

/** A control interface that responds to every request with one body, for shapes that are rare in a real one. */
export function fakeControl(response: object, status = 200): Promise<FakeControl> {
  return fakeServer(JSON.stringify(response), status, { 'x-emulator-version': '0.0.0' })
}

/** A server that responds to every request with one text. */
export async function fakeServer(response: string, status = 200, headers: Record<string, string> = {}) {
  const asked: FakeControl['asked'][number][] = []
  const { port } = await serving(async (req, res) => {
    let body = ''
    for await (const chunk of req) body += chunk
    asked.push({ method: req.method ?? '', path: req.url ?? '', body })
    res.writeHead(status, { 'content-type': 'application/json', ...headers }).end(response)
  })
  return { url: `http://127.0.0.1:${port}`, asked }
}
