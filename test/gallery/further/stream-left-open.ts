import type { Surroundings } from './client.ts'

const SCHEMA = { type: 'object', properties: { total: { type: 'number' } }, required: ['total'] }

/** Its iterator has no return(): a loop that ends early leaves the response open. */
function linesOf(body: ReadableStream<Uint8Array>): AsyncIterable<string> {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  const next = async (): Promise<IteratorResult<string>> => {
    for (;;) {
      const end = rest.indexOf('\n')
      if (end >= 0) {
        const value = rest.slice(0, end)
        rest = rest.slice(end + 1)
        if (value !== '') return { done: false, value }
        continue
      }
      const { done, value } = await reader.read()
      if (done) return { done, value: undefined }
      rest += value
    }
  }
  return { [Symbol.asyncIterator]: () => ({ next }) }
}

/** Looks at the first result of three batches, and keeps the streams. */
export async function run({ baseUrl, apiKey, sleep }: Surroundings) {
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' }
  const first: unknown[] = []
  const streams: AsyncIterable<string>[] = []
  for (const name of ['march', 'april', 'may']) {
    const items = [1, 2, 3, 4].map((n) => ({ custom_id: `${name}-${n}`, file_id: 'file-invoice-1' }))
    const body = JSON.stringify({ prompt: 'Read.', output_schema: SCHEMA, model: 'model-1', items })
    const created = await fetch(`${baseUrl}/batch-predictions`, { method: 'POST', headers, body })
    const { id } = (await created.json()) as { readonly id: string }
    await sleep(3_600_000)
    const results = await fetch(`${baseUrl}/batch-predictions/${id}/results`, { headers })
    if (results.body === null) throw new Error('no body')
    const lines = linesOf(results.body)
    streams.push(lines)
    for await (const line of lines) {
      first.push(JSON.parse(line).custom_id)
      break
    }
  }
  return { first, streams }
}
