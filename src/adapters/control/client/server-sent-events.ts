/** One event of a stream of server-sent events. */
export interface ServerSentEvent {
  readonly type: string
  readonly data: string
}

/** Reads a stream of server-sent events whose lines end in LF or CR LF. Comments and fields that carry neither type nor data are skipped. */
export async function* serverSentEvents(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<ServerSentEvent> {
  let type = 'message'
  let data: string[] = []
  for await (const line of linesOf(bytes)) {
    const [, field = '', value = ''] = /^([^:]*):? ?(.*)$/s.exec(line) ?? []
    if (field === 'event') type = value
    if (field === 'data') data.push(value)
    if (line !== '') continue
    if (data.length > 0) yield { type, data: data.join('\n') }
    type = 'message'
    data = []
  }
}

async function* linesOf(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of bytes) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split(/\r?\n/)
    rest = lines.pop() ?? ''
    yield* lines
  }
}
