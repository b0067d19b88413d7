import type { Sandbox } from '../sandboxes/sandbox.ts'
import { type Cancel, later as realLater } from '../time/realtime.ts'
import type { StreamBody } from './stream.ts'

/** The pauses before the parts of a stream. */
export interface StreamPauses {
  /** Waits before the next part. Resolves with false when the stream is over: its sandbox was reset, restored or deleted. */
  next(after: number): Promise<boolean>
  /** Ends the stream: all its parts are sent, or the client has left. */
  stop(): void
}

/** The pauses of one stream, on the clock that it names. @param request the id of its request */
export function streamPauses(
  sandbox: Sandbox,
  request: string,
  { clock }: StreamBody,
  later = realLater,
): StreamPauses {
  let isOver = false
  let due = sandbox.clock.now
  let endWait: Cancel = () => {}
  // Only a stream that is sent listens.
  let listeners: Cancel[] | undefined
  const stop = (): void => {
    isOver = true
    for (const remove of listeners ?? []) remove()
    endWait()
  }
  const wait = (after: number): Promise<void> =>
    new Promise((resolve) => {
      const cancel =
        clock === 'real' ? later(after, resolve) : sandbox.scheduler.wakeAt(due, request, resolve)
      endWait = () => {
        cancel()
        resolve()
      }
    })
  return {
    stop,
    next: async (after) => {
      if (isOver) return false
      listeners ??= [sandbox.listeners.onReplaced(stop), sandbox.listeners.onClosed(stop)]
      due += after
      if (after > 0 && (clock === 'virtual' || sandbox.clock.rate > 0)) await wait(after)
      return !isOver
    },
  }
}
