// A page on another origin than the service. The address of the page contains the service: #base=...&key=...
const place = new URLSearchParams(location.hash.slice(1))
const at = (id) => document.getElementById(id)

at('start').addEventListener('click', async () => {
  at('start').disabled = true
  at('results').replaceChildren()
  await run().catch((error) => {
    at('status').textContent = `failed: ${error.message}`
  })
  at('start').disabled = false
})

async function run() {
  const { id } = await (await call('POST', '/batch-predictions', order())).json()
  await untilTerminal(id)
  for await (const line of linesOf(await call('GET', `/batch-predictions/${id}/results`))) show(line)
}

function order() {
  const number = { type: 'number', minimum: 1, maximum: 9999 }
  return {
    prompt: 'Read vendor and total.',
    output_schema: { type: 'object', properties: { vendor: { type: 'string' }, total: number } },
    model: 'any-model',
    items: [1, 2, 3].map((n) => ({ file_id: `file-invoice-${n}`, custom_id: `Invoice ${n}` })),
  }
}

async function untilTerminal(id) {
  for (;;) {
    const { status, request_counts } = await (await call('GET', `/batch-predictions/${id}`)).json()
    at('status').textContent = `${status}, ${request_counts.succeeded} of ${request_counts.total} read`
    if (['completed', 'failed', 'expired', 'cancelled'].includes(status)) return
    await pause(50)
  }
}

async function call(method, path, json) {
  const answer = await fetch(place.get('base') + path, {
    method,
    headers: { Authorization: `Bearer ${place.get('key')}`, 'Content-Type': 'application/json' },
    body: json === undefined ? undefined : JSON.stringify(json),
  })
  const { headers } = answer
  // A page can read these headers across origins only because the service exposes them.
  at('left').textContent = `${headers.get('x-ratelimit-remaining')} of ${headers.get('x-ratelimit-limit')}`
  if (answer.ok) return answer
  if (answer.status === 429) {
    await pause(1000 * (headers.get('retry-after') ?? 1))
    return call(method, path, json)
  }
  throw new Error(`${answer.status} ${(await answer.json()).detail ?? ''}`)
}

/** The lines of a stream, each as soon as it is complete: a chunk may end anywhere, even within a character. */
async function* linesOf({ body }) {
  let rest = ''
  for await (const text of body.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + text).split('\n')
    rest = lines.pop()
    for (const line of lines) if (line.trim() !== '') yield JSON.parse(line)
  }
  if (rest.trim() !== '') yield JSON.parse(rest)
}

function show({ custom_id, status, output }) {
  const row = at('results').insertRow()
  for (const text of [custom_id, output?.vendor ?? status, output?.total?.toFixed(2) ?? '']) {
    row.insertCell().textContent = text
  }
}

function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
