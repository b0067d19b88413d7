/** Uncaught errors: each would end a process of the emulator. */
export interface Crashes {
  readonly rejections: readonly unknown[]
  readonly exceptions: readonly unknown[]
  stop(): void
}

/** Collects uncaught errors from now on. The process continues, so that a proof can report what it was doing. */
export function watchCrashes(): Crashes {
  const rejections: unknown[] = []
  const exceptions: unknown[] = []
  const onRejection = (reason: unknown): void => void rejections.push(reason)
  const onException = (error: unknown): void => void exceptions.push(error)
  process.on('unhandledRejection', onRejection)
  process.on('uncaughtException', onException)
  return {
    rejections,
    exceptions,
    stop: () => {
      process.off('unhandledRejection', onRejection)
      process.off('uncaughtException', onException)
    },
  }
}
