import type { BatchBody } from 'agent-workspace-emulator'
import type { ResultLine, Service } from '../invoices.ts'

/** A whole batch, by one HTTP client and its own retries: created under a key, polled until it is terminal, read. */
export type RunBatch = (service: Service, batch: BatchBody, key: string) => Promise<ResultLine[]>

/** As a batch is answered, as far as a client needs it. */
export interface Batch {
  readonly id: string
  readonly status: string
}

/** Polls until the batch is over. No pause in between: the sandboxes of these examples count polls, not time. */
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
 * Reads again what broke off in its middle. Clients whose retries end with the head of a response leave that to their callers; for
 * a GET it is always safe.
 */
export async function readAgain<T>(read: () => Promise<T>, times = 3): Promise<T> {
  try {
    return await read()
  } catch (error) {
    if (times === 0) throw error
    return readAgain(read, times - 1)
  }
}
