const BASE: string = import.meta.env.VITE_WORKSPACE_BASE_URL
const KEY: string = import.meta.env.VITE_WORKSPACE_API_KEY ?? ''

/** A response that is not 2xx. */
export class ApiError extends Error {
  readonly status: number
  /** Seconds that the service asks to wait; undefined where it does not. */
  readonly retryAfter: number | undefined

  constructor(status: number, message: string, retryAfter: number | undefined) {
    super(message)
    this.status = status
    this.retryAfter = retryAfter
  }
}

export async function send(
  path: string,
  init: RequestInit & { readonly json?: unknown } = {},
): Promise<Response> {
  const { json, ...rest } = init
  const headers = new Headers(init.headers)
  headers.set('authorization', `Bearer ${KEY}`)
  if (json !== undefined) headers.set('content-type', 'application/json')
  const body = json === undefined ? rest.body : JSON.stringify(json)
  const response = await fetch(BASE + path, {
    ...rest,
    headers,
    ...(body != null && { body, method: init.method ?? 'POST' }),
  })
  if (response.ok) return response
  const { message, detail } = (await response.json().catch(() => ({}))) as {
    message?: string
    detail?: string
  }
  const after = response.headers.get('retry-after')
  throw new ApiError(
    response.status,
    detail ?? message ?? `The service responded with ${response.status}.`,
    after === null ? undefined : Number(after),
  )
}

async function read<T>(path: string, init?: Parameters<typeof send>[1]): Promise<T> {
  return (await (await send(path, init)).json()) as T
}

export interface List<T> {
  readonly data: readonly T[]
  readonly has_more: boolean
}

export interface Named {
  readonly id: string
  readonly name: string
}

export interface Page extends Named {
  readonly created_at: string
}

export interface Message {
  readonly id: string
  readonly role: 'user' | 'agent'
  readonly content: readonly { readonly type: string; readonly text?: string }[]
  readonly created_at: string
}

export interface StoredFile extends Named {
  readonly kind: string
  readonly pages: number | null
}

export interface Batch {
  readonly id: string
  readonly status: string
  readonly request_counts: Readonly<Record<'total' | 'processing', number>>
  readonly results_url: string | null
}

export interface Result {
  readonly custom_id: string
  readonly status: string
  readonly output: Readonly<Record<string, unknown>> | null
  readonly error: { readonly detail?: string } | null
}

/** The statuses in which a batch does not change any more. */
export const ENDED: readonly string[] = ['completed', 'failed', 'expired', 'cancelled', 'canceled']

export const api = {
  conversations: () => read<List<Named>>('/conversations?has_messages=true'),
  messages: (id: string) => read<List<Message>>(`/conversations/${id}/messages?limit=100`),
  pages: () => read<List<Page>>('/pages?limit=50'),
  createPage: (name: string) => read<Page>('/pages', { json: { name } }),
  search: (text: string) => read<List<Named>>(`/search?${new URLSearchParams({ q: text })}`),
  files: () => read<List<StoredFile>>('/files?limit=50'),
  upload: (file: File) =>
    read<StoredFile>('/files', {
      method: 'POST',
      body: file,
      headers: { 'content-type': 'application/octet-stream', 'x-file-name': encodeURIComponent(file.name) },
    }),
  createBatch: (prompt: string, fileIds: readonly string[]) =>
    read<Batch>('/batch-predictions', {
      headers: { 'idempotency-key': crypto.randomUUID() },
      json: {
        prompt,
        model: 'any-model',
        output_schema: {
          type: 'object',
          properties: {
            title: { type: 'string' },
            total: { type: 'number', minimum: 0, maximum: 5000, multipleOf: 0.01 },
          },
          required: ['title', 'total'],
        },
        items: fileIds.map((file_id) => ({ file_id, custom_id: file_id })),
      },
    }),
  batch: (id: string) => read<Batch>(`/batch-predictions/${id}`),
  results: async (id: string): Promise<readonly Result[]> => {
    const text = await (await send(`/batch-predictions/${id}/results`)).text()
    return text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Result)
  },
}

/** The server-sent events of a response, as they arrive. Throws when the connection is lost. */
export async function* events(
  response: Response,
): AsyncGenerator<{ readonly event: string; readonly data: unknown }> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  for (;;) {
    const { done = true, value = '' } = (await reader?.read()) ?? {}
    const parts = (rest + value).split('\n\n')
    rest = parts.pop() ?? ''
    for (const part of parts) {
      const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(part)?.[1]
      yield { event: field('event') ?? 'message', data: JSON.parse(field('data') ?? 'null') }
    }
    if (done) return
  }
}
