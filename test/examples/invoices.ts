/** The address of the service and the key. In production the code under test gets the same two values. */
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

/** The code under test of these examples: it reads invoices with a batch prediction. It does not depend on the emulator. */
export class Invoices {
  readonly #service: Service

  constructor(service: Service) {
    this.#service = service
  }

  /** Submits files. A repeated submission of the same `order` returns the same batch. @returns the id of the batch */
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
    // After a broken connection it is unknown whether the batch exists; under the same key the retry cannot create a second one.
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
