import { once } from 'node:events'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { MessageChannel, Worker } from 'node:worker_threads'
import { expect, onTestFinished, test } from 'vitest'
import { dataFolder } from '../../../test/support/data-folder.ts'
import { script, writeFiles } from '../../../test/support/scenario-folder.ts'
import type { Task } from './protocol.ts'
import { workerEntry } from './worker-entry.ts'

test('the built worker loads a script of TypeScript, out of reach of any installed package', async () => {
  const folder = dataFolder()
  writeFiles(folder, { 'typed.ts': script("{ description: 'built' as string, on: { a: () => {} } }") })
  const entry = workerEntry(pathToFileURL(resolve('dist/emulator.cjs')).href)
  expect(entry).toEqual({ source: resolve('dist/scenario-worker.js'), eval: false })
  const { port2 } = new MessageChannel()
  const worker = new Worker(entry.source, {
    workerData: { folder, answers: port2, flag: new SharedArrayBuffer(4) },
    transferList: [port2],
  })
  onTestFinished(async () => {
    await worker.terminate()
  })
  worker.postMessage({ id: 1, kind: 'load', file: `${folder}/typed.ts` } satisfies Task)
  expect(await once(worker, 'message')).toEqual([
    {
      id: 1,
      outcome: { loaded: { text: '{"description":"built","on":{}}', functions: ['/on/a'], issues: [] } },
      outside: [],
    },
  ])
})
