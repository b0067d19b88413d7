import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Receives webhooks and stores their result URLs, each of which identifies a batch. */
export class Receiver implements AsyncDisposable {
  readonly told = new Set<string>()
  readonly #server: Server

  private constructor() {
    this.#server = createServer((req, res) => void this.#take(req, res))
  }

  static async open(): Promise<Receiver> {
    const receiver = new Receiver()
    receiver.#server.listen(0, '127.0.0.1')
    await once(receiver.#server, 'listening')
    return receiver
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    this.#server.close()
  }

  async #take(req: IncomingMessage, res: ServerResponse): Promise<void> {
    let text = ''
    try {
      for await (const chunk of req.setEncoding('utf8') as AsyncIterable<string>) text += chunk
    } catch {
      // The sender was killed during the request.
      return
    }
    this.told.add((JSON.parse(text) as { results_url: string }).results_url)
    res.end()
  }
}
