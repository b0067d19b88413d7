/** The one call of a case, for clients that take a URL and options: a read, or a create with a key or without one. */
export const [kind] = process.env.WORKSPACE_CERTIFY_CASE.split('/')
export const timeout = Number(process.env.WORKSPACE_CERTIFY_TIMEOUT_MS)

const { WORKSPACE_BASE_URL: base, WORKSPACE_API_KEY: key } = process.env
const isBatch = kind === 'create-with-key'
export const url = base + (kind === 'read' ? '/data-views' : isBatch ? '/batch-predictions' : '/pages')
export const method = kind === 'read' ? 'GET' : 'POST'
export const headers = {
  authorization: `Bearer ${key}`,
  ...(isBatch && { 'idempotency-key': 'order-1' }),
}
const batch = {
  prompt: 'Read the total.',
  output_schema: { type: 'object' },
  model: 'any-model',
  items: [{ custom_id: 'a', file_id: 'file-invoice-1' }],
}
export const json = kind === 'read' ? undefined : isBatch ? batch : { name: 'Roof plan' }

/** A program with an error says so in one line: a stack trace would count as a crash. */
export function report({ message }) {
  console.error(message)
  process.exitCode = 1
}
