import { later } from '../../realtime.ts'
import { askOver } from './ask.ts'
import { EmulatorError, notAnEmulator } from './emulator-error.ts'
import type { Transport } from './transport.ts'

/** How long to wait for an emulator that is being started elsewhere, in real milliseconds, where nothing else is said. */
const PATIENCE = 30_000

/** Real milliseconds between two attempts. */
const PAUSE = 50

/** Resolves when an emulator is ready. Rejects with the last reason when that takes longer, and at once when no time helps. */
export async function untilReady(transport: Transport, timeoutMs = PATIENCE): Promise<void> {
  const ask = askOver(transport)
  const over = new AbortController()
  const cancel = later(timeoutMs, () => over.abort())
  let last = 'It has not answered.'
  try {
    while (!over.signal.aborted) {
      try {
        const { status } = await ask('GET /ready', { signal: over.signal })
        if (status !== 'ready') throw notAnEmulator(200, 'GET /ready')
        return
      } catch (error) {
        if (error instanceof EmulatorError && !canPass(error)) throw error
        if (error instanceof EmulatorError) last = error.message
        else if (!over.signal.aborted) throw error
      }
      await pause(over.signal)
    }
  } finally {
    cancel()
  }
  throw new EmulatorError({
    status: 0,
    code: 'not_ready',
    detail: `The emulator was not ready within ${timeoutMs} ms. ${last}`,
  })
}

function canPass({ code, status }: EmulatorError): boolean {
  return code === 'no_answer' || status === 502 || status === 503
}

function pause(over: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      over.removeEventListener('abort', end)
      cancel()
      resolve()
    }
    const cancel = later(PAUSE, end)
    over.addEventListener('abort', end)
    if (over.aborted) end()
  })
}
