import { request as httpRequest, type IncomingMessage } from 'node:http'
import { onTestFinished } from 'vitest'

/** One server-sent event, its data parsed. */
interface FeedEvent {
  readonly id: number
  readonly type: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into data of every shape; the assertions are the types.
  readonly data: any
}

export type EventFeed = Awaited<ReturnType<typeof follow>>

/** Opens the stream of events of an emulator, which is closed after the test. */
export async function follow(controlUrl: string, query = '', headers: Readonly<Record<string, string>> = {}) {
  const response = await open(`${controlUrl}/events${query}`, headers)
  if (response.statusCode !== 200) throw new Error(`the feed is refused: ${response.statusCode}`)
  const events: FeedEvent[] = []
  let [text, rest, seen] = ['', '', 0]
  let wake = () => {}
  response.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk
    const blocks = (rest + chunk).split('\n\n')
    rest = blocks.pop() ?? ''
    events.push(...blocks.filter((block) => !block.startsWith(':')).map(eventOf))
    wake()
  })
  const ended = new Promise<void>((resolve) => void response.on('error', () => {}).once('close', resolve))
  /** Resolves with the next event of a type, after those that earlier calls returned. */
  const next = async (type: string): Promise<FeedEvent> => {
    for (;;) {
      const found = events.slice(seen).find((event) => event.type === type)
      if (found !== undefined) {
        seen = events.indexOf(found) + 1
        return found
      }
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    }
  }
  return { response, events, text: () => text, next, ended, close: () => response.destroy() }
}

function open(url: string, headers: Readonly<Record<string, string>>): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const req = httpRequest(url, { headers, agent: false }, resolve).on('error', reject)
    onTestFinished(() => void req.destroy())
    req.end()
  })
}

function eventOf(block: string): FeedEvent {
  const [, id, type, data] = /^id: (\d+)\nevent: (\w+)\ndata: (.+)$/.exec(block) ?? []
  if (data === undefined) throw new Error(`not an event: ${block}`)
  return { id: Number(id), type: type ?? '', data: JSON.parse(data) }
}
