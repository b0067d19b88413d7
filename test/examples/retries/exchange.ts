import type { BatchBody } from 'agent-workspace-emulator'
import type { ResultLine, Service } from '../invoices.ts'

/** A whole batch with one HTTP client and its retries: create it under a key, poll until it is terminal, read the results. */
export type RunBatch = (service: Service, batch: BatchBody, key: string) => Promise<ResultLine[]>

/** The fields of a batch that a client needs. */
export interface Batch {
  readonly id: string
  readonly status: string
}

/** Polls until the batch is terminal. There is no pause: in these examples the state depends on the number of polls. */
export async function untilTerminal(poll: () => Promise<Batch>): Promise<void> {
  const { status } = await poll()
  if (!['completed', 'failed', 'expired', 'cancelled'].includes(status)) await untilTerminal(poll)
}

export function linesOf(text: string): ResultLine[] {
  return text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => JSON.parse(line) as ResultLine)
}

/**
 * Reads again after a broken body. Clients whose retries end with the head of a response leave that to the caller; for a GET
 * it is always safe.
 */
export async function readAgain<T>(read: () => Promise<T>, times = 3): Promise<T> {
  try {
    return await read()
  } catch (error) {
    if (times === 0) throw error
    return readAgain(read, times - 1)
  }
}
