import type { Input, Service } from '../client.ts'

/** An error response of the service. */
class ServiceError extends Error {
  readonly status: number
  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/** Reads a batch. */
export async function run({ get }: Service, { id }: Input): Promise<unknown> {
  const response = await get(`/batch-predictions/${id}`)
  // Bug:
  const body = (await response.json()) as { detail: string }
  if (!response.ok) throw new ServiceError(response.status, body.detail)
  return body
  // Repair:
  // const text = await response.text()
  // if (!response.ok) throw new ServiceError(response.status, text.slice(0, 200))
  // return JSON.parse(text)
  // End.
}
