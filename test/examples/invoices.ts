/** Where the service is, and who calls it. The code under test is given no more in production either. */
export interface Service {
  readonly baseUrl: string
  readonly apiKey: string
}

/** One line of a result stream. */
export interface ResultLine {
  readonly custom_id: string
  readonly status: 'succeeded' | 'errored' | 'canceled' | 'expired'
  readonly output: { readonly vendor: string; readonly total: number } | null
}

/** The code under test of these examples: it has invoices read by a batch prediction. It knows of no emulator. */
export class Invoices {
  readonly #service: Service

  constructor(service: Service) {
    this.#service = service
  }

  /** Submits files; `order` makes a repeated submission the same batch. Returns the id of the batch. */
  async submit(order: string, files: readonly string[]): Promise<string> {
    const body = {
      prompt: 'Read vendor and total.',
      output_schema: {
        type: 'object',
        properties: { vendor: { type: 'string' }, total: { type: 'number' } },
        required: ['vendor', 'total'],
      },
      model: 'any-model',
      items: files.map((file_id) => ({ file_id, custom_id: file_id })),
    }
    const send = () =>
      this.#call('POST', '/batch-predictions', { 'Idempotency-Key': order }, JSON.stringify(body))
    // A connection that breaks leaves open whether there is a batch now; under the same key it cannot become two.
    const response = await send().catch(send)
    return ((await response.json()) as { id: string }).id
  }

  async isDone(batch: string): Promise<boolean> {
    const response = await this.#call('GET', `/batch-predictions/${batch}`)
    const { status } = (await response.json()) as { status: string }
    return ['completed', 'failed', 'expired', 'cancelled'].includes(status)
  }

  async results(batch: string): Promise<ResultLine[]> {
    const response = await this.#call('GET', `/batch-predictions/${batch}/results`)
    const lines = (await response.text()).split('\n').filter((line) => line.trim() !== '')
    return lines.map((line) => JSON.parse(line) as ResultLine)
  }

  async #call(method: string, path: string, headers = {}, body?: string): Promise<Response> {
    const response = await fetch(this.#service.baseUrl + path, {
      method,
      headers: {
        Authorization: `Bearer ${this.#service.apiKey}`,
        'Content-Type': 'application/json',
        ...headers,
      },
      ...(body !== undefined && { body }),
    })
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`)
    return response
  }
}
