import { Agent } from 'node:http'
import { shoot } from '../bench/load.ts'
import { KEY } from '../bench/servers.ts'

/** A response with an error status, as opposed to a cut connection. */
export class Refused extends Error {
  readonly status: number

  constructor(what: string, status: number, text: string) {
    super(`${what} got ${status}: ${text}`)
    this.status = status
  }
}

interface Named {
  readonly id: string
}

/** A client of one emulator with keep-alive connections. A path with the prefix `/@name` selects another sandbox. */
export class Client {
  readonly #agent = new Agent({ keepAlive: true })
  readonly #port: number

  constructor(port: number) {
    this.#port = port
  }

  /** Posts JSON; throws {@link Refused} for any status from 300, and the socket's error if the connection breaks. */
  post(path: string, body: object = {}, headers: Readonly<Record<string, string>> = {}): Promise<Named> {
    return this.#send('POST', path, body, headers) as Promise<Named>
  }

  put(path: string, body: object): Promise<unknown> {
    return this.#send('PUT', path, body)
  }

  get(path: string): Promise<unknown> {
    return this.#send('GET', path)
  }

  async ids(collection: string, prefix = ''): Promise<string[]> {
    const { data } = (await this.get(`${prefix}/__emulator/state/${collection}`)) as { data: Named[] }
    return data.map(({ id }) => id)
  }

  close(): void {
    this.#agent.destroy()
  }

  async #send(method: string, path: string, body?: object, headers: Readonly<Record<string, string>> = {}) {
    const shot = { port: this.#port, method, path, key: KEY, headers }
    const json = body === undefined ? {} : { body: JSON.stringify(body) }
    const { status, text } = await shoot(this.#agent, { ...shot, ...json })
    if (status >= 300) throw new Refused(`${method} ${path}`, status, text)
    return text === '' ? undefined : (JSON.parse(text) as unknown)
  }
}
