import type { Sandbox } from '../../core/sandboxes/sandbox.ts'
import { later } from '../../core/time/realtime.ts'

/** How a wait has ended: what it was for has come, or the reason why not. */
type WaitEnd = 'come' | 'timed out' | 'replaced' | 'removed' | 'closing' | 'gone'

/**
 * Waits in a sandbox for something, for at most some real milliseconds.
 * @param watch calls the given function when it may have come. @returns the functions that end this
 */
export function waitIn(
  { listeners }: Sandbox,
  ms: number,
  { gone, closing }: { readonly gone: AbortSignal; readonly closing: AbortSignal },
  hasCome: () => boolean,
  watch: (check: () => void) => readonly (() => void)[],
): Promise<WaitEnd> {
  return new Promise((resolve) => {
    const end = (how: WaitEnd): void => {
      for (const stop of stops) stop()
      resolve(how)
    }
    const stops = [
      ...watch(() => hasCome() && end('come')),
      listeners.onReplaced(() => end('replaced')),
      listeners.onClosed(() => end('removed')),
      onAbort(closing, () => end('closing')),
      onAbort(gone, () => end('gone')),
      later(ms, () => end('timed out')),
    ]
    if (hasCome()) end('come')
    else if (closing.aborted) end('closing')
    else if (gone.aborted) end('gone')
  })
}

function onAbort(signal: AbortSignal, call: () => void): () => void {
  signal.addEventListener('abort', call)
  return () => signal.removeEventListener('abort', call)
}
