import type { Plugin } from 'vitest/config'
import { type PoolOptions, type PoolWorker, ThreadsPoolWorker, type WorkerRequest } from 'vitest/node'

type Listener = Parameters<ThreadsPoolWorker['on']>[1]

/** The thread that outlives its runs, and with it every module that the tests have loaded. */
let kept: ThreadsPoolWorker | undefined

/** A worker that says it was started and stopped, and is in truth the one thread all along. */
function warmWorker(options: PoolOptions): PoolWorker {
  const listeners: [event: string, listener: Listener][] = []
  const thread = kept ?? new ThreadsPoolWorker(options)
  const reused = kept !== undefined

  function response(type: 'started' | 'stopped') {
    for (const [event, listener] of [...listeners]) {
      if (event === 'message') setImmediate(listener, { __vitest_worker_response__: true, type })
    }
  }

  return {
    name: 'warm',
    on(event, listener) {
      listeners.push([event, listener])
      thread.on(event, listener)
    },
    off(event, listener) {
      thread.off(event, listener)
    },
    send(message) {
      if (message.type === 'stop') return response('stopped')
      if (message.type === 'start' && reused) return response('started')
      thread.send(message.type === 'run' ? withConfig(message, options) : message)
    },
    deserialize: (data) => data,
    async start() {
      if (!reused) await thread.start()
      kept = thread
    },
    async stop() {
      for (const [event, listener] of listeners) thread.off(event, listener)
    },
  }
}

/** The settings of this run: those of the start are as old as the thread, and the names of the tests to run are among them. */
function withConfig(message: WorkerRequest, { project }: PoolOptions): WorkerRequest {
  const context = { ...(message as { context: object }).context, config: project.serializedConfig }
  return { ...message, context } as unknown as WorkerRequest
}

export function warmPool(): Plugin {
  return {
    name: 'warm-pool',
    configureVitest({ project }) {
      Object.assign(project.config, {
        pool: 'warm',
        poolRunner: { name: 'warm', createPoolWorker: warmWorker },
      })
    },
  }
}
