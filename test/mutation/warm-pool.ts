import type { Plugin } from 'vitest/config'
import { type PoolOptions, type PoolWorker, ThreadsPoolWorker, type WorkerRequest } from 'vitest/node'

type Listener = Parameters<ThreadsPoolWorker['on']>[1]

/** The thread that is reused for all runs, with every module that the tests have loaded. */
let kept: ThreadsPoolWorker | undefined

/** A worker that reports a start and a stop, but always uses the same thread. */
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

/** Sends the settings of this run, with the names of its tests; the thread has only the settings of its start. */
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
