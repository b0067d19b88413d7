import type { Sandbox } from '../sandboxes/sandbox.ts'
import { type Cancel, later } from '../time/realtime.ts'
import type { StreamBody } from './stream.ts'

/** The pauses before the parts of a stream. */
export interface StreamPauses {
  /** Waits before the next part. Resolves with false when the stream is over: its sandbox was reset, restored or deleted. */
  next(after: number): Promise<boolean>
  /** Ends the stream: all its parts are sent, or the client has left. */
  stop(): void
}

/** The pauses of one stream, on the clock that it names. @param request the id of its request */
export function streamPauses(sandbox: Sandbox, request: string, { clock }: StreamBody): StreamPauses {
  let isOver = false
  let due = sandbox.clock.now
  let wake = (): void => {}
  let cancel: Cancel = () => {}
  const end = (): void => {
    isOver = true
    cancel()
    for (const stop of stops ?? []) stop()
    wake()
  }
  // Only a stream that is sent listens.
  let stops: Cancel[] | undefined
  const wait = (after: number): Promise<void> =>
    new Promise((resolve) => {
      wake = resolve
      if (isOver) resolve()
      else if (clock === 'real') cancel = later(after, resolve)
      else cancel = sandbox.scheduler.wakeAt(due, request, resolve)
    })
  return {
    next: async (after) => {
      stops ??= [sandbox.onReplaced(end), sandbox.onClosed(end)]
      due += after
      const isPaused = after > 0 && (clock === 'virtual' || sandbox.clock.rate > 0)
      if (isPaused) await wait(after)
      return !isOver
    },
    stop: end,
  }
}
